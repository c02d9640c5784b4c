// <velado-cuts>: intervals by cuts on the histogram of a column. The textarea inside it has the cuts, a line for each level, and is
// what the form sends. Where the form says widths instead, their cuts are drawn and not moved.

/** @typedef {{at: number, level: number}} Cut  A cut is there from level 1 up to its level. */

const LEFT = 22, HIGH = 120, AXIS = 18, BAND = 22, MOST = 6;
const numbers = (text = "") => text.split(/[\s,;]+/).filter(Boolean).map(Number).filter(Number.isFinite);
/** Ascending; of two at the same place the higher one. @param {Cut[]} cuts @returns {Cut[]} */
const sorted = (cuts) => cuts.sort((a, b) => a.at - b.at || b.level - a.level).filter((cut, i) => !i || cut.at > cuts[i - 1].at);
/** 1, 2 or 5 times a power of ten, not below a number. */
const nice = (exact) => { const power = 10 ** Math.floor(Math.log10(exact)); return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= exact * 0.999999); };
/** The highest level of the i-th of cuts, if each level keeps every second. */
const kept = (i, levels) => { let level = 1; while (level < levels && i % 2 ** level === 0) level++; return level; };
const drawn = (tag, more, ...inside) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(more)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
};

customElements.define("velado-cuts", class extends HTMLElement {
  connectedCallback() {
    if (this.words) return;
    Object.assign(this, JSON.parse(this.querySelector("script").textContent), {field: this.querySelector("textarea"), form: this.closest("form")});
    const {spread} = this;
    if (!spread) { this.className = "plain"; return; }
    [this.low, this.high] = [Math.min(spread.start, spread.low), Math.max(spread.start + spread.width * spread.records.length, spread.high)];
    this.step = spread.whole ? 1 : nice((this.high - this.low) / 500);
    this.told = new Intl.NumberFormat(document.documentElement.lang, {maximumFractionDigits: 6, useGrouping: true}).format;
    this.cuts = sorted(this.field.value.split("\n").flatMap((line, i) => numbers(line).map((at) => ({at, level: i + 1}))));
    this.build();
    this.listen = () => this.draw();
    this.form.addEventListener("input", this.listen);
    new ResizeObserver(this.listen).observe(this);
  }
  disconnectedCallback() { this.form?.removeEventListener("input", this.listen); }
  get free() { return this.form.elements.how.value === "cuts"; }
  snap(at, step = this.step) { return Number((Math.round(at / step) * step).toPrecision(12)); }
  within(at) { return this.snap(Math.min(Math.max(at, this.spread.low), this.spread.high)); }
  /** Cuts of the widths that the form says. */
  widths() {
    const {elements} = this.form, widths = numbers(elements["option.widths"]?.value), origin = Number(elements["option.origin"]?.value) || 0, [first] = widths, found = [];
    if (first > 0 && (this.high - this.low) / first < 400) for (let i = Math.ceil((this.low - origin) / first); origin + i * first <= this.high; i++)
      found.push({at: this.snap(origin + i * first, 1e-9), level: 1 + widths.findLastIndex((width) => Number.isInteger(this.snap(i * first / width, 1e-9)))});
    return found;
  }

  build() {
    const one = (css) => this.querySelector(css), drop = () => { if (this.dragged) { this.dragged = null; this.wrote(); } };
    [this.svg, this.list, [this.parts, this.levels]] = [one("svg"), one(".cut-list"), this.querySelectorAll(".make input")];
    one("[data-quiet]").hidden = false;
    Object.assign(this.svg, {onpointerdown: (event) => this.press(event), onpointerup: drop, onpointermove: (event) => { if (this.dragged) { this.dragged.at = this.there(event); this.draw(); } }});
    const acts = {
      clear: () => this.wrote([]), add: () => this.wrote([...this.cuts, {at: this.gap(), level: 1}]),
      turn: () => { const cuts = this.widths().filter((cut) => cut.at > this.spread.low && cut.at <= this.spread.high); this.form.elements.how.value = "cuts"; this.wrote(cuts); },
    };
    for (const by of this.querySelectorAll("button")) by.onclick = acts[by.name] || (() => this.fill(by.name));
  }
  /** The middle of the widest interval. */
  gap() {
    const ends = [this.spread.low, ...this.cuts.map((cut) => cut.at), this.spread.high], wide = ends.slice(1).map((end, i) => end - ends[i]), i = wide.indexOf(Math.max(...wide));
    return this.snap(ends[i] + wide[i] / 2);
  }
  /** Cuts made all at once. */
  fill(how) {
    const {low, high, percentiles, whole} = this.spread, n = Math.max(2, Number(this.parts.value)), levels = Number(this.levels.value), step = nice((high - low) / n || 1), found = [];
    if (how === "round") for (let i = Math.floor(low / step) + 1; i * step <= high; i++) found.push({at: this.snap(i * step, 1e-9), level: kept(i, levels)});
    else for (let i = 1; i < n; i++) found.push({at: how === "width" ? this.snap(low + (high - low + Number(whole)) * i / n) : percentiles[Math.min(98, Math.max(0, Math.round(100 * i / n) - 1))], level: kept(i, levels)});
    this.wrote(found.filter(({at}) => at > low && at <= high));
  }
  /** Write the cuts down; two at the same place are one. */
  wrote(cuts = this.cuts) {
    this.cuts = sorted(cuts);
    this.field.value = Array.from({length: Math.max(0, ...cuts.map((cut) => cut.level))}, (_, i) => this.cuts.filter((cut) => cut.level > i).map((cut) => cut.at).join(" ")).join("\n");
    this.draw();
    this.field.dispatchEvent(new Event("change", {bubbles: true}));
  }

  x(value) { return LEFT + (this.wide - LEFT) * (value - this.low) / (this.high - this.low || 1); }
  there(event) { return this.within(this.low + (event.clientX - this.svg.getBoundingClientRect().left - LEFT) / (this.wide - LEFT) * (this.high - this.low)); }
  press(event) {
    if (!this.free || event.button) return;
    event.preventDefault();
    this.dragged = event.target.closest(".cut")?.cut;
    if (!this.dragged) this.cuts.push(this.dragged = {at: this.there(event), level: 1});
    this.svg.setPointerCapture(event.pointerId);
    this.draw(this.dragged);
  }
  draw(focused = this.svg.contains(document.activeElement) && document.activeElement.cut) {
    const {free, spread} = this, cuts = free ? this.cuts : this.widths(), levels = Math.max(1, ...cuts.map((cut) => cut.level)), low = HIGH + AXIS, most = Math.max(...spread.records, 1);
    this.wide = this.clientWidth || 640;
    this.svg.setAttribute("viewBox", `0 0 ${this.wide} ${low + levels * BAND + 8}`);
    const bins = spread.records.map((n, i) => {
      const x = this.x(spread.start + i * spread.width), height = n / most * (HIGH - 4);
      return drawn("rect", {class: "bin", x, y: HIGH - height, width: Math.max(this.x(spread.start + (i + 1) * spread.width) - x - 0.5, 0.5), height});
    });
    const tick = nice((this.high - this.low) * 100 / this.wide || 1), ticks = [];
    for (let i = Math.ceil(this.low / tick); i * tick <= this.high; i++) ticks.push(drawn("text", {class: "tick", x: this.x(i * tick), y: HIGH + 14}, this.told(this.snap(i * tick, 1e-9))));
    const bands = Array.from({length: levels}, (_, i) => this.band(i + 1, cuts.filter((cut) => cut.level > i).map((cut) => cut.at).sort((a, b) => a - b), low + i * BAND));
    const lines = cuts.map((cut) => {
      const x = this.x(cut.at), bottom = low + cut.level * BAND, text = this.words.cut.replace("{at}", this.told(cut.at)).replace("{level}", cut.level);
      const told = free ? {tabindex: 0, role: "slider", "aria-label": this.words.at, "aria-valuemin": spread.low, "aria-valuemax": spread.high, "aria-valuenow": cut.at, "aria-valuetext": text} : {"aria-hidden": true};
      return Object.assign(drawn("g", {class: "cut", ...told}, drawn("rect", {class: "wide", x: x - 6, y: 0, width: 12, height: bottom}), drawn("line", {x1: x, x2: x, y1: 0, y2: bottom}), drawn("circle", {cx: x, cy: bottom, r: 5})), {cut, onkeydown: (event) => this.key(event, cut)});
    });
    this.svg.replaceChildren(drawn("rect", {class: "plane", x: LEFT, y: 0, width: this.wide - LEFT, height: low + levels * BAND}), ...bins, ...bands, ...lines, ...ticks);
    if (focused) lines.find((line) => line.cut.at === focused.at)?.focus();
    if (free && !this.list.contains(document.activeElement)) this.rows();
  }
  /** The intervals of a level. */
  band(level, limits, y) {
    const {whole} = this.spread, ends = [this.low, ...limits, this.high];
    const parts = limits.concat(this.high).flatMap((to, i) => {
      const from = ends[i], x = this.x(from), width = this.x(to) - x, [a, b] = [from, to - Number(whole)].map(this.told);
      const text = !limits.length ? "*" : i === 0 ? `<${this.told(to)}` : i === limits.length ? `≥${a}` : a === b ? a : `${a}–${b}`;
      return width > 0 ? [drawn("rect", {x, y, width, height: BAND - 2}), drawn("text", {x: x + width / 2, y: y + 14}, width > text.length * 6.5 ? text : "")] : [];
    });
    return drawn("g", {class: "band", "aria-hidden": true}, drawn("text", {x: 9, y: y + 14}, level), ...parts);
  }
  /** The cuts as numbers. */
  rows() {
    this.list.replaceChildren(...this.cuts.map((cut) => {
      const row = this.querySelector("template").content.firstChild.cloneNode(true), [at, level, gone] = row.children;
      Object.assign(at, {value: cut.at, onchange: () => { if (at.value) { cut.at = Number(at.value); this.wrote(); } }});
      Object.assign(level, {value: cut.level, onchange: () => { cut.level = Math.min(MOST, Math.max(1, Number(level.value))); this.wrote(); }});
      gone.onclick = () => { gone.blur(); this.wrote(this.cuts.filter((one) => one !== cut)); };
      return row;
    }));
  }
  key(event, cut) {
    const far = event.shiftKey ? 10 : 1, move = {ArrowLeft: -far, ArrowRight: far}[event.key], lift = {ArrowUp: 1, ArrowDown: -1}[event.key];
    if (move) cut.at = this.within(cut.at + move * this.step);
    else if (lift) cut.level = Math.min(MOST, Math.max(1, cut.level + lift));
    else if (event.key === "Delete" || event.key === "Backspace") this.cuts = this.cuts.filter((one) => one !== cut);
    else return;
    event.preventDefault();
    this.draw();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.wrote(), 300);
  }
});
