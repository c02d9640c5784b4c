// The picture of a lattice on a canvas: where its nodes are, and how they are drawn. It knows nothing of the page.

const SHADES = 24, MOST_EDGES = 1500, CELL = 7, LARGEST = 17, HIDDEN = 8;
const TOKENS = ["ink", "quiet", "line", "edge", "accent", "surface", "warn", "scale-low", "scale-high"];
const {floor, round, min, max} = Math;

/** Colours and letters of the page. */
function looks(element) {
  const style = getComputedStyle(element), all = TOKENS.map((name) => style.getPropertyValue(`--${name}`).trim());
  const [low, high] = all.slice(-2).map((text) => text.match(/[\d.]+/g).slice(0, 3).map(Number));
  const mix = (shade) => (shade === SHADES ? all[5] : `rgb(${low.map((x, k) => round(x + ((high[k] - x) * shade) / (SHADES - 1)))})`);
  return {...Object.fromEntries(TOKENS.map((name, k) => [name, all[k]])), mix, font: `11px ${style.fontFamily}`, key: all.join()};
}

/** The mark of a status: statuses are never told apart by colour alone, and what may not be released stands back. */
function mark(pen, status, x, y, size, colour, look) {
  const r = status > 2 ? size * 0.72 : size, path = (...points) => { points.forEach(([a, b]) => pen.lineTo(x + a * r, y + b * r)); pen.closePath(); };
  pen.beginPath();
  if (status === 0) path(...Array.from({length: 10}, (_, i) => [Math.sin, Math.cos].map((f, k) => (i % 2 ? 0.45 : 1) * (k ? -1 : 1) * f((Math.PI * i) / 5))));
  else if (status === 1) path([0, -1], [1, 0], [0, 1], [-1, 0]);
  else if (status === 2) pen.arc(x, y, r * 0.88, 0, 7);
  else if (status === 3) path([-0.7, -0.7], [0.7, -0.7], [0.7, 0.7], [-0.7, 0.7]);
  else for (const s of [0.6, -0.6]) { pen.moveTo(x - s * r, y - 0.6 * r); pen.lineTo(x + s * r, y + 0.6 * r); }
  const wide = status < 3 ? max(0.5, r * 0.16) : max(1, r * 0.45), edge = status < 2 ? look.ink : look.edge;
  pen.fillStyle = status < 3 ? colour : look.surface;
  if (status < 4) pen.fill();
  const ring = [[edge, wide + max(0.6, r * 0.25)], [status === 4 && colour === look.surface ? look.quiet : colour, wide]];
  for ([pen.strokeStyle, pen.lineWidth] of status < 3 ? [[edge, wide]] : ring) pen.stroke();
}

export class Picture {
  constructor(canvas, about, written) {
    Object.assign(this, {canvas, about, written, pen: canvas.getContext("2d"), scale: 1, left: 0, top: 0, free: false, map: false, sheets: new Map()});
  }

  get wide() { return this.canvas.clientWidth; }
  get high() { return this.canvas.clientHeight; }

  /** Take the nodes that are to be drawn, as the service gives them (format=columns). */
  take({nodes, sizes, status, minimal, figures, small = {}}) {
    const numbers = Object.entries(figures).map(([key, values]) => [key, Float64Array.from(values, (v) => v ?? NaN)]);
    Object.assign(this, {count: nodes, sizes, small, figures: Object.fromEntries(numbers), status: Uint8Array.from(status), minimal});
    this.strides = sizes.map((_, c) => sizes.slice(c + 1).reduce((a, b) => a * b, 1));
    this.optimal = status.indexOf(0);
  }

  level(i, c) { return floor(i / this.strides[c]) % this.sizes[c]; }
  levels(i) { return this.sizes.map((_, c) => this.level(i, c)); }
  index(text) {
    const found = text ? text.split(",").reduce((sum, x, c) => sum + x * this.strides[c], 0) : -1;
    return found < this.count ? found : -1;
  }

  /** The nodes right above (one column one level coarser) and right below. */
  beside(i) {
    const step = (column, up) => ({j: i + (up ? 1 : -1) * this.strides[column], column, up});
    return this.levels(i).flatMap((level, c) => [...(level < this.sizes[c] - 1 ? [step(c, true)] : []), ...(level ? [step(c, false)] : [])]);
  }

  /** Which nodes a filter leaves, as their rank: these first, and the best status first. */
  sift(f) {
    const {status, minimal, figures: {loss, suppressed}} = this, names = this.about.names;
    const has = (i, name) => (name === "minimal" ? minimal[i] : name === "satisfying" ? status[i] <= 2 : names[status[i]] === name);
    const within = (i) => (!f.status.length || f.status.some((name) => has(i, name))) && (f.loss === null || loss[i] <= f.loss) && (f.suppressed === null || suppressed[i] <= f.suppressed)
      && (!f.lowest || f.lowest.every((x, c) => this.level(i, c) >= x)) && (!f.highest || f.highest.every((x, c) => this.level(i, c) <= x));
    this.rank = status.map((code, i) => code + (within(i) ? 0 : HIDDEN));
  }
  shown(i) { return this.rank[i] < HIDDEN; }

  /** Shade every node by a figure; the lowest, middle and highest number of the scale. */
  paint(key) {
    const values = this.figures[key] || this.figures.loss, steep = this.about.figures[key]?.steep;
    let low = Infinity, high = -Infinity;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    const bend = (v) => (steep ? Math.log1p(v - low) : v - low), span = bend(high) || 1;
    this.shade = Uint8Array.from(values, (v) => (v === v ? min(SHADES - 1, floor((bend(v) / span) * SHADES)) : SHADES));
    return low > high ? [] : [low, steep ? round(low + Math.expm1(span / 2)) : (low + high) / 2, high];
  }

  /** Give every node its place: in rows of its layer, the original at the bottom; or, as a map, by loss and suppressed records. */
  arrange(map) {
    const n = this.count, x = new Float32Array(n), y = new Float32Array(n), {loss, suppressed} = this.figures;
    Object.assign(this, {map, x, y, rows: [], room: [max(this.wide / max(this.high, 1), 0.5), 1]});
    if (!map) this.stack();
    else for (let i = 0; i < n; i++) { x[i] = (this.status[i] === 4 ? 1 : loss[i]) * this.room[0]; y[i] = 1 - suppressed[i] / this.about.rows; }
    this.fit();
  }

  stack() {
    const layers = Array.from({length: this.sizes.reduce((a, b) => a + b - 1, 1)}, () => []), {wide: w, high: h} = this, gap = 0.7;
    for (let i = 0; i < this.count; i++) layers[this.levels(i).reduce((a, b) => a + b)].push(i);
    const widest = max(...layers.map((one) => one.length)), size = (p) => min(w / p, h / layers.reduce((sum, one) => sum + Math.ceil(one.length / p) + gap, 0));
    let per = widest, y = 0.5;
    // As many nodes side by side as make all of them largest.
    for (let p = widest - 1; p > 0 && widest > 24; p--) if (size(p) > size(per)) per = p;
    const single = per === widest;
    this.step = single ? max(1, (widest * h) / max(w, 1) / layers.length) : 1;
    for (const [height, layer] of [...layers.entries()].reverse()) {
      for (let first = 0; first < layer.length; first += per) {
        const nodes = layer.slice(first, first + per), start = (per - nodes.length) / 2 + 0.5;
        nodes.forEach((i, k) => { this.x[i] = start + k; this.y[i] = y; });
        this.rows.push({y, start, nodes, height: first ? -1 : height});
        y += this.step;
      }
      y += single ? 0 : gap;
    }
    this.room = [per, this.rows[this.rows.length - 1].y + 0.5];
  }

  /** All of it in the picture. */
  fit() {
    if (!this.room) return;
    const side = this.map ? 44 : 34, w = this.wide - side - 16, h = this.high - side - 8, [across, down] = this.room;
    const scale = (this.whole = max(1e-6, min(w / across, h / down, this.map ? Infinity : 110)));
    Object.assign(this, {scale, left: side + (w - across * scale) / 2, top: 16 + (h - down * scale) / 2, free: false});
  }
  zoom(factor, px, py) {
    const scale = min(max(this.scale * factor, this.whole / 2), this.map ? this.whole * 2000 : max(140, this.whole)), by = 1 - scale / this.scale;
    this.pan((px - this.left) * by, (py - this.top) * by);
    this.scale = scale;
  }
  pan(dx, dy) { this.left += dx; this.top += dy; this.free = true; }
  place(i) { return [this.left + this.x[i] * this.scale, this.top + this.y[i] * this.scale]; }
  radius() { return this.map ? CELL / 2 : min(LARGEST, max(1, this.scale * 0.44)); }

  /** Bring a node into the picture. */
  reveal(i) {
    const [x, y] = this.place(i);
    if (x < 20 || x > this.wide - 20) this.left += this.wide / 2 - x;
    if (y < 20 || y > this.high - 20) this.top += this.high / 2 - y;
  }

  /** All marks of one size as pixels: a line for each status, a column for each shade. */
  sheet(size, alpha, look) {
    const key = `${size} ${alpha} ${look.key}`;
    if (!this.sheets.has(key)) {
      if (this.sheets.size > 60) this.sheets.clear();
      const width = size * (SHADES + 1), height = size * 5, pen = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true});
      pen.globalAlpha = alpha;
      for (let status = 0; status < 5; status++)
        for (let shade = 0; shade <= SHADES; shade++) mark(pen, status, (shade + 0.5) * size, (status + 0.5) * size, size / 2 - min(1, size / 8), look.mix(shade), look);
      this.sheets.set(key, new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer));
    }
    return this.sheets.get(key);
  }

  /** Put the mark of a node into the pixels of the picture (faster than drawing it); what is less transparent stays. */
  stamp(i, sheet, size, left, top) {
    const {width: w, height: h} = this.image, wide = size * (SHADES + 1), from = this.status[i] * size * wide + this.shade[i] * size, dots = this.dots, last = min(size, w - left);
    for (let row = max(0, -top); row < size && row + top < h; row++)
      for (let column = max(0, -left), at = (row + top) * w + left, mine = from + row * wide; column < last; column++) {
        const dot = sheet[mine + column];
        if (dot >>> 24 > dots[at + column] >>> 24) dots[at + column] = dot;
      }
  }

  /** @param {{at: number, over: number, column: number, path: number[], pins: number[]}} marks */
  draw(marks) {
    const {wide: w, high: h, pen, canvas} = this, dense = devicePixelRatio || 1, look = looks(canvas), width = round(w * dense), height = round(h * dense);
    if (!this.image || canvas.width !== width || canvas.height !== height) {
      Object.assign(canvas, {width, height});
      this.image = pen.createImageData(width, height);
      this.dots = new Uint32Array(this.image.data.buffer);
    }
    this.dots.fill(0);
    const seen = this.map ? this.gather(w, h) : this.visible(w, h), r = this.radius(), usual = max(2, round(2 * r * dense));
    // The best first: they are not covered.
    for (const [from, to, size, alpha] of [[0, 2, max(usual, round(8 * dense)), 1], [2, 5, usual, 1], [HIDDEN, 16, usual, 0.15]]) {
      const sheets = [];
      seen.nodes.forEach((i, k) => {
        if (this.rank[i] < from || this.rank[i] >= to) return;
        const d = this.map ? round(size * seen.swell[k]) : size, [px, py] = this.map ? seen.places[k] : this.place(i);
        this.stamp(i, (sheets[d] ||= this.sheet(d, alpha, look)), d, round(px * dense - d / 2), round(py * dense - d / 2));
      });
    }
    pen.putImageData(this.image, 0, 0);
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    Object.assign(pen, {font: look.font, globalCompositeOperation: "destination-over"});
    if (this.map) this.axes(pen, w, h, look); else this.edges(pen, seen, look);
    pen.globalCompositeOperation = "source-over";
    this.overlay(pen, r, look, marks);
    if (!this.map) this.names(pen, r, seen, h, look);
  }

  /** The nodes inside the picture. */
  visible(w, h) {
    const from = (-20 - this.left) / this.scale, to = (w + 20 - this.left) / this.scale;
    const inside = this.rows.filter(({y}) => Math.abs(this.top + y * this.scale - h / 2) < h / 2 + 20);
    return {nodes: inside.flatMap(({nodes, start}) => nodes.slice(max(0, floor(from - start)), max(0, Math.ceil(to - start))))};
  }

  /** The nodes of a map by cells: the best of each, the larger the more there are. */
  gather(w, h) {
    const across = Math.ceil(w / CELL) + 2, size = across * (Math.ceil(h / CELL) + 2), {x, y, rank, left, top, scale} = this, [dx, dy] = [left, top].map((at) => (((at % CELL) + CELL) % CELL) - CELL);
    const best = new Int32Array(size).fill(-1), often = new Uint32Array(size), nodes = [], places = [], swell = [];
    let most = 1;
    for (let i = 0; i < this.count; i++) {
      const a = left + x[i] * scale, b = top + y[i] * scale;
      if (!(a >= 0 && a < w && b >= 0 && b < h)) continue;
      const cell = floor((b - dy) / CELL) * across + floor((a - dx) / CELL);
      if (best[cell] < 0 || rank[i] < rank[best[cell]]) best[cell] = i;
      if (++often[cell] > most) most = often[cell];
    }
    best.forEach((i, cell) => {
      if (i < 0) return;
      nodes.push(i); places.push([dx + ((cell % across) + 0.5) * CELL, dy + (floor(cell / across) + 0.5) * CELL]);
      swell.push(0.7 + (0.6 * Math.log1p(often[cell])) / Math.log1p(most));
    });
    this.cells = {across, dx, dy, best, often};
    return {nodes, places, swell};
  }

  axes(pen, w, h, look) {
    const {texts, rows, limit} = this.about, x = (t) => this.left + t * this.room[0] * this.scale, y = (t) => this.top + (1 - t) * this.scale, most = y(limit / rows);
    const line = (a, b, c, d) => { pen.beginPath(); pen.moveTo(a, b); pen.lineTo(c, d); pen.stroke(); };
    const say = (text, a, b, textAlign, textBaseline = "bottom") => Object.assign(pen, {textAlign, textBaseline}).fillText(text, a, b);
    Object.assign(pen, {strokeStyle: look.line, fillStyle: look.quiet, lineWidth: 1});
    for (const t of [0, 0.25, 0.5, 0.75, 1]) {
      line(x(t), y(0), x(t), y(1)); line(x(0), y(t), x(1), y(t));
      say(this.written("loss", t), x(t), h - 18, "center"); say(this.written("suppressed", round(t * rows)), 4, y(t), "left", "middle");
    }
    say(`${texts.loss} →`, w - 8, h - 3, "right"); say(`↑ ${texts.suppressed}`, 4, 2, "left", "top");
    pen.strokeStyle = pen.fillStyle = look.warn; pen.setLineDash([6, 4]);
    line(x(0), most, x(1), most); pen.setLineDash([]);
    say(texts.limit, x(1), most - 3, "right");
  }

  /** All edges, where they are few. */
  edges(pen, {nodes}, look) {
    if (this.count * this.sizes.length > MOST_EDGES) return;
    Object.assign(pen, {strokeStyle: look.line, lineWidth: 1}).beginPath();
    for (const i of nodes) for (const {j, up} of this.beside(i)) if (up) { pen.moveTo(...this.place(i)); pen.lineTo(...this.place(j)); }
    pen.stroke();
  }

  /** Heights at the side; levels below nodes that are far enough apart. */
  names(pen, r, {nodes}, h, look) {
    let last = h + 20;
    Object.assign(pen, {textAlign: "center", textBaseline: "middle"});
    for (const {height, y} of [...this.rows].reverse()) {
      const at = this.top + y * this.scale;
      if (height < 0 || last - at < 14 || at < 5 || at > h - 5) continue;
      pen.clearRect(3, at - 7, 18, 14); pen.fillStyle = look.quiet; pen.fillText(height, 12, (last = at));
    }
    if (this.scale < pen.measureText(this.sizes.map((n) => n - 1).join(",")).width + 8 || this.scale * this.step < 2 * r + 16) return;
    Object.assign(pen, {textBaseline: "top", fillStyle: look.ink});
    for (const i of nodes) if (this.shown(i)) { const [x, y] = this.place(i); pen.fillText(this.levels(i).join(","), x, y + r + 4); }
  }

  /** What is chosen, pointed at, pinned, and the way between two nodes. */
  overlay(pen, r, look, {at, over, column, path, pins}) {
    const stroke = (colour, wide, draw) => { pen.strokeStyle = colour; pen.lineWidth = wide; pen.beginPath(); draw(); pen.stroke(); };
    const ring = (i, colour, wide, room) => stroke(colour, wide, () => pen.arc(...this.place(i), max(r, 4) + room, 0, 7));
    const chain = (nodes, colour, wide) => stroke(colour, wide, () => nodes.forEach((i) => pen.lineTo(...this.place(i))));
    pen.lineJoin = "round";
    for (const i of this.map ? [] : new Set([over, at])) for (const edge of i < 0 ? [] : this.beside(i)) chain([i, edge.j], edge.up ? look.accent : look.quiet, i === at && edge.column === column ? 3 : 1.25);
    if (path.length > 1) { chain(path, look.surface, 6); chain(path, look.warn, 3); ring(path[0], look.warn, 2.5, 3); }
    for (const i of pins) { ring(i, look.surface, 4, 2.5); pen.setLineDash([3, 2]); ring(i, look.ink, 1.5, 2.5); pen.setLineDash([]); }
    for (const i of new Set([this.optimal, at])) if (i >= 0 && this.shown(i)) mark(pen, this.status[i], ...this.place(i), i === this.optimal ? max(r * 1.25, 8) : max(r, 5), look.mix(this.shade[i]), look);
    if (over >= 0 && over !== at) ring(over, look.ink, 1, 2.5);
    if (at >= 0) { ring(at, look.surface, 5, 4); ring(at, look.accent, 2.5, 4); }
  }

  /** The node at a place of the picture (none: -1), and how many are there. */
  hit(px, py) {
    if (this.map) {
      const {across, dx, dy, best, often} = this.cells, at = floor((py - dy) / CELL) * across + floor((px - dx) / CELL);
      const cell = [0, -across, across].flatMap((k) => [at + k, at + k - 1, at + k + 1]).find((one) => best[one] >= 0);
      return cell === undefined ? [-1, 0] : [best[cell], often[cell]];
    }
    const x = (px - this.left) / this.scale, y = (py - this.top) / this.scale, row = this.rows.reduce((near, one) => (Math.abs(one.y - y) < Math.abs(near.y - y) ? one : near));
    const i = row.nodes[round(x - row.start)] ?? -1, far = Math.hypot(this.x[i] - x, this.y[i] - y) * this.scale;
    return far <= max(this.radius(), this.scale * 0.5, 5) ? [i, 1] : [-1, 0];
  }
}
