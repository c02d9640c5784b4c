// <velado-lattice>: all nodes of a generalization lattice, drawn on a canvas; pointer, wheel and keys move in it. What is chosen,
// filtered and coloured stands in attributes, which the page changes; nodes are opened by a link of the page.
import {Picture} from "./lattice_picture.js";

const filled = (text, places) => text.replace(/\{(\w+)\}/g, (_, name) => places[name]);

customElements.define("velado-lattice", class extends HTMLElement {
  static observedAttributes = ["data-source", "data-colour", "data-view", "data-node", "data-pins", "data-path", "data-filter"];

  connectedCallback() {
    if (!this.picture) this.begin();
    this.watching.observe(this.canvas);
    this.scheme.onchange = () => this.ask();
  }
  disconnectedCallback() { this.watching.disconnect(); this.scheme.onchange = null; }

  begin() {
    this.about = JSON.parse(this.querySelector("script").textContent);
    [this.canvas, this.tip, this.told, this.link] = ["canvas", ".tip", ".told", "a[data-live]"].map((one) => this.querySelector(one));
    const always = {useGrouping: "always"}, kinds = [always, {...always, maximumSignificantDigits: 4}, {style: "percent", maximumSignificantDigits: 3}];
    const [whole, plain, share] = kinds.map((how) => new Intl.NumberFormat(document.documentElement.lang, how));
    this.written = (key, value) => (value == null || value !== value ? this.about.texts.none : (this.about.figures[key]?.share ? share : Number.isInteger(value) ? whole : plain).format(value));
    this.picture = new Picture(this.canvas, this.about, this.written);
    Object.assign(this, {at: -1, over: -1, column: 0, ready: false});
    this.watching = new ResizeObserver(() => { if (!this.picture.free) this.picture.fit(); this.ask(); });
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    const acts = {pointerdown: this.press, pointermove: this.move, pointerup: this.lift, pointerleave: this.leave, pointercancel: this.leave, wheel: this.wheel, keydown: this.key};
    for (const [kind, act] of Object.entries(acts)) this.canvas.addEventListener(kind, (event) => this.ready && act.call(this, event), {passive: false});
    this.addEventListener("click", (event) => { const by = event.target.closest("[data-zoom]"); if (by) this.zoom(Number(by.dataset.zoom)); });
    this.load();
  }

  attributeChangedCallback(name, before, now) {
    if (before === now || !this.picture) return;
    if (name === "data-source") this.load();
    if (!this.ready) return;
    if (name === "data-colour") this.paint();
    else if (name === "data-filter") this.picture.sift(JSON.parse(now));
    else if (name === "data-view") this.picture.arrange(this.asMap);
    else if (name === "data-node" && this.picture.index(now) >= 0) this.step(this.picture.index(now));
    this.ask();
  }

  get asMap() { return this.picture.count > this.about.most || this.dataset.view === "map"; }

  async load() {
    const source = this.dataset.source;
    try {
      const data = await (await fetch(source)).json();
      if (source === this.dataset.source) this.take(data);
    } catch (error) { this.told.textContent = this.about.texts.failed; }
  }

  /** Show these nodes, as the service gives them. */
  take(data) {
    this.picture.take(data);
    this.picture.sift(JSON.parse(this.dataset.filter));
    this.paint();
    this.picture.arrange(this.asMap);
    this.at = this.picture.index(this.dataset.node);
    this.ready = true;
    this.ask();
  }

  paint() {
    const ends = this.picture.paint(this.dataset.colour);
    this.querySelectorAll(".scale output").forEach((place, i) => { place.textContent = this.written(this.dataset.colour, ends[i]); });
  }

  ask() { this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); }); }

  draw() {
    if (!this.ready || !this.canvas.clientWidth) return;
    const many = (text) => (text || "").split(";").map((one) => this.picture.index(one)).filter((i) => i >= 0);
    this.picture.draw({at: this.at, over: this.over, column: this.column, path: many(this.dataset.path), pins: many(this.dataset.pins)});
    if (!this.hasAttribute("data-drawn")) { this.setAttribute("data-drawn", ""); performance.mark("lattice-drawn"); }
  }

  /** What is told of a node: names and values. */
  lore(i) {
    const {columns, labels, texts, figures, statuses} = this.about, {status, minimal, small, sizes} = this.picture;
    const told = columns.map((name, c) => {
      const level = this.picture.level(i, c), many = labels[c]?.[level];
      return [name, filled(texts.level, {level, top: sizes[c] - 1}) + (many === undefined ? "" : ` · ${filled(texts.labels, {n: this.written("", many)})}`)];
    });
    const state = [statuses[status[i]], minimal[i] && status[i] !== 1 && texts.minimal, !this.picture.shown(i) && texts.hidden].filter(Boolean).join(", ");
    const measured = Object.entries(this.picture.figures).map(([key, values]) => [figures[key].title, small[key]?.[i] ? texts.small : this.written(key, values[i])]);
    return [[this.picture.levels(i).join(","), state], ...told, ...measured];
  }

  /** Go to a node, and tell of it. */
  step(i) {
    this.at = i;
    this.picture.reveal(i);
    const moving = filled(this.about.texts.moving, {column: this.about.columns[this.column]});
    this.told.textContent = `${this.lore(i).map((one) => one.join(": ")).join("; ")}. ${moving}`;
  }

  /** Point at a node: its figures beside the pointer. */
  point(i, many = 1, px = 0, py = 0) {
    if (i !== this.over) {
      this.over = i; this.ask();
      this.tip.hidden = i < 0;
      const lines = i < 0 ? [] : [...this.lore(i), ...(many > 1 ? [["", filled(this.about.texts.many, {n: this.written("", many)})]] : [])];
      this.tip.replaceChildren(...lines.flatMap((line) => line.map((textContent, k) => Object.assign(document.createElement(k ? "dd" : "dt"), {textContent}))));
    }
    const {offsetWidth: w, offsetHeight: h, style} = this.tip;
    style.left = `${Math.max(0, px + 14 + w > this.picture.wide ? px - w - 14 : px + 14)}px`;
    style.top = `${Math.max(0, Math.min(py + 14, this.picture.high - h))}px`;
  }

  press({button, offsetX: x, offsetY: y, pointerId}) { if (!button) { this.held = {x, y}; this.canvas.setPointerCapture(pointerId); } }
  move({offsetX: x, offsetY: y}) {
    const held = this.held;
    if (!held) { this.point(...this.picture.hit(x, y), x, y); return; }
    if (!held.moved && Math.hypot(x - held.x, y - held.y) < 4) return;
    this.picture.pan(x - held.x, y - held.y);
    this.held = {x, y, moved: true};
    this.point(-1);
    this.ask();
  }
  lift({offsetX: x, offsetY: y}) {
    const i = this.held && !this.held.moved ? this.picture.hit(x, y)[0] : -1;
    this.held = null;
    if (i >= 0) { this.step(i); this.open(); }
  }
  leave() { this.held = null; this.point(-1); }
  wheel(event) {
    // The page scrolls unless somebody is at work in the picture.
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY);
  }

  /** Larger or smaller around a place; 0: all of it. */
  zoom(factor, px = this.picture.wide / 2, py = this.picture.high / 2) {
    if (factor) this.picture.zoom(factor, px, py); else this.picture.fit();
    this.ask();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {key} = event, at = Math.max(this.at, 0), {sizes, strides, count} = this.picture, c = this.column, level = this.picture.level(at, c), n = sizes.length;
    const arrow = {ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [1, 0], ArrowRight: [-1, 0]}[key];
    const zoom = {"+": 1.3, "=": 1.3, "-": 1 / 1.3, 0: 0}[key];
    if (arrow && event.shiftKey) this.picture.pan(60 * arrow[0], 60 * arrow[1]);
    else if (arrow) {
      this.column = (c + n - arrow[0]) % n;
      this.step(level + arrow[1] >= 0 && level + arrow[1] < sizes[c] ? at + arrow[1] * strides[c] : at);
    } else if (key === "Home" || key === "End") this.step(key === "Home" ? 0 : count - 1);
    else if (/^[1-9]$/.test(key) && key <= n) { this.column = key - 1; this.step(at); }
    else if (zoom !== undefined) this.zoom(zoom);
    else if (key === "Enter" || key === " ") this.open();
    else if (key === "p") this.pin();
    else return;
    event.preventDefault();
    this.ask();
  }

  /** To the page with another part of its query. */
  go(name, value) {
    const url = new URL(location.href);
    url.searchParams.delete("classes");
    url.searchParams.set(name, value);
    this.link.href = url.href;
    this.link.click();
  }
  open() { if (this.at >= 0) this.go("node", this.picture.levels(this.at).join(",")); }
  pin() {
    const mine = this.picture.levels(Math.max(this.at, 0)).join(","), pins = (this.dataset.pins || "").split(";").filter(Boolean);
    this.go("pins", (pins.includes(mine) ? pins.filter((one) => one !== mine) : [...pins, mine]).join(";"));
  }
});
