// <velado-tree>: values in groups, moved by mouse or by keys. Its textarea holds {"tree": …}, which the form sends; in lists null stands
// for missing values. The data block says what the table has.

/** @typedef {{name: string|null, up: Node|null, kids: Node[]|null}} Node  A value has no kids. */

const ROW = 28, AROUND = 8, FEW = 150, ROOT = "*";

/** @returns {Node} */
const node = (name, kids = null) => ({name, up: null, kids});
const make = (tag, more, ...inside) => { const made = Object.assign(document.createElement(tag), more); made.append(...inside); return made; };

class Model {
  constructor(text, {missing, uncovered}) {
    [this.root, this.tray, this.done, this.undone] = [node("", []), node("", []), [], []];
    this.plant(this.root, JSON.parse(text).tree);
    if (missing && !this.values(this.root).some((one) => one.name === null)) this.add(this.root, null);
    for (const value of uncovered) this.add(this.tray, value);
  }
  add(up, name, kids) { const made = node(name, kids); made.up = up; up.kids.push(made); return made; }
  plant(up, tree) {
    if (Array.isArray(tree)) for (const one of tree) one && typeof one === "object" ? this.plant(up, one) : this.add(up, one === null ? null : String(one));
    else for (const [name, below] of Object.entries(tree)) {
      if (name === ROOT) this.plant(up, below);
      else if (below === null || !Object.keys(Object(below)).length) this.add(up, name);
      else this.plant(this.add(up, name, []), [below].flat());
    }
  }
  /** @returns {Generator<Node>} */
  *under(up) { for (const kid of up.kids || []) { yield kid; yield* this.under(kid); } }
  values(up) { return up.kids ? [...this.under(up)].filter((one) => !one.kids) : [up]; }
  /** The description; groups without values are left out, and missing values where they are by themselves. */
  write() {
    const say = JSON.stringify, inside = (up) => {
      const kids = up.kids.filter((kid) => (kid.kids ? this.values(kid).length : kid.name !== null || up !== this.root)), names = new Set(kids.map((kid) => kid.name));
      if (kids.some((kid) => kid.kids) && names.size === kids.length && !names.has(null) && !names.has(ROOT)) return `{${kids.map((kid) => `${say(kid.name)}:${kid.kids ? inside(kid) : null}`)}}`;
      return `[${kids.map((kid) => (kid.kids ? `{${say(kid.name)}:${inside(kid)}}` : say(kid.name)))}]`;
    };
    const whole = inside(this.root);
    return `{"tree":${whole[0] === "[" ? `{"*":${whole}}` : whole}}`;
  }
  /** Do something that can be taken back. */
  change(act) {
    this.touched = new Map();
    act();
    if (this.touched.size) { this.done.push(this.touched); this.undone = []; }
    return this.touched.size;
  }
  touch(one) { if (!this.touched.has(one)) this.touched.set(one, was(one)); }
  back(from, to) {
    const step = from.pop();
    if (step) to.push(new Map([...step.keys()].map((one) => [one, was(one)])));
    for (const [one, former] of step || []) Object.assign(one, former);
    return step;
  }
  /** Those that are not in another of them. */
  tops(nodes) { const all = new Set(nodes); return [...all].filter((one) => { while ((one = one.up)) if (all.has(one)) return false; return true; }); }
  take(nodes) {
    const gone = new Set(nodes);
    for (const up of new Set(nodes.map((one) => one.up))) { this.touch(up); up.kids = up.kids.filter((kid) => !gone.has(kid)); }
  }
  put(nodes, group, at = Infinity) {
    for (const one of [group, ...nodes]) this.touch(one);
    for (const one of nodes) one.up = group;
    group.kids.splice(at, 0, ...nodes);
  }
  empty(group) { this.touch(group); return group.kids.splice(0); }
  move(nodes, group) {
    nodes = this.tops(nodes).filter((one) => one.up !== group);
    for (let up = group; up; up = up.up) nodes = nodes.filter((one) => one !== up);
    if (!nodes.length) return;
    this.take(nodes);
    this.put(group === this.tray ? nodes.flatMap((one) => this.values(one)).filter((one) => one.name !== null) : nodes, group);
  }
}
const also = (event) => event.ctrlKey || event.metaKey;
const was = ({name, up, kids}) => ({name, up, kids: kids && [...kids]});

customElements.define("velado-tree", class extends HTMLElement {
  connectedCallback() {
    if (this.panes) return;
    const {data, words} = JSON.parse(this.querySelector("script").textContent);
    Object.assign(this, {words, field: this.querySelector("textarea"), records: new Map(Object.entries(data.records)), chosen: new Set(), held: new Set(), open: new Set(), rows: new Map(), query: "", number: new Intl.NumberFormat(document.documentElement.lang, {useGrouping: true})});
    // What cannot be read is left as it is written.
    try { this.model = new Model(this.field.value, data); } catch (error) { this.className = "plain"; return; }
    const all = [...this.model.under(this.model.root)];
    if (all.length < FEW) this.open = new Set(all);
    this.build();
    this.draw();
  }
  say(key, places) { return this.words[key].replace(/\{(\w+)\}/g, (_, name) => (name === "n" ? this.number.format(places.n) : places[name])); }

  build() {
    const one = (css) => this.querySelector(css), find = one("[type=search]");
    [this.state, this.target, this.buttons] = [one(".state"), one("select"), this.querySelectorAll("button")];
    one("[data-quiet]").hidden = false;
    find.oninput = () => { this.query = find.value.trim().toLowerCase(); this.draw(); };
    for (const by of this.buttons) by.onclick = () => this.act(by.name);
    this.panes = ["tree", "tray"].map((name) => {
      const box = one(`.${name}`), room = box.firstElementChild, pane = {name, box, room, top: () => this.model[name === "tree" ? "root" : "tray"], rows: [], at: null, from: null};
      const there = (event) => event.target.closest("[role=treeitem]")?.node, mark = (event) => { for (const row of [box, ...room.children]) row.classList.toggle("over", !!event && (row === box ? !there(event) : row.node && row.node === there(event))); };
      Object.assign(box, {
        onscroll: () => this.paint(pane), onkeydown: (event) => this.key(event, pane), onmousedown: (event) => this.press(event, pane, there(event)),
        onclick: (event) => { if (this.chosen.size > 1 && there(event) && !event.shiftKey && !also(event)) this.go(pane, there(event)); },
        ondragstart: (event) => event.dataTransfer.setData("text/plain", [...this.chosen].map((chosen) => chosen.name).join("\n")),
        ondragover: (event) => { event.preventDefault(); mark(event); }, ondragleave: () => mark(),
        ondrop: (event) => { event.preventDefault(); mark(); this.move(this.chosen, this.into(there(event), pane)); },
      });
      return pane;
    });
    this.groups();
  }

  draw() {
    for (const pane of this.panes) {
      pane.rows = [...this.shown(pane.top(), 1)];
      if (!pane.rows.some((row) => row.one === pane.at)) pane.at = pane.rows[0]?.one;
      pane.room.style.height = `${pane.rows.length * ROW}px`;
      this.paint(pane);
    }
    const {model, chosen} = this, groups = [...chosen].filter((one) => one.kids).length;
    const can = {undo: model.done.length, redo: model.undone.length, rename: groups === 1, ungroup: groups, merge: groups > 1, open: 1, close: 1};
    for (const by of this.buttons) by.disabled = !(can[by.name] ?? chosen.size);
  }
  /** Rows of what is open, or of what is looked for. */
  *shown(up, level) {
    const kids = this.query ? up.kids.filter((kid) => this.fits(kid)) : up.kids;
    for (const [i, one] of kids.entries()) {
      yield {one, level, place: i + 1, of: kids.length};
      if (one.kids && (this.query || this.open.has(one))) yield* this.shown(one, level + 1);
    }
  }
  fits(one) { return this.label(one).toLowerCase().includes(this.query) || (one.kids || []).some((kid) => this.fits(kid)); }
  label(one) { return one.name ?? this.words.missing; }
  /** Elements of the rows in sight, and a few around; those of before stay, since one of them may be dragged. */
  paint({name, box, room, rows, at}) {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - AROUND), last = first + Math.ceil((box.clientHeight || 420) / ROW) + 2 * AROUND;
    const shown = rows.slice(first, last).map((row, i) => this.item(row, name, first + i, at));
    if (!shown.length) shown.push(make("div", {className: "none", role: "treeitem", textContent: name === "tray" ? this.words.all : "–"}));
    if (shown.length !== room.children.length || shown.some((row, i) => row !== room.children[i])) room.replaceChildren(...shown);
    // What has the focus may be out of sight.
    box.setAttribute("aria-activedescendant", room.querySelector(".at")?.id || "");
  }
  item({one, level, place, of}, name, i, at) {
    let row = this.rows.get(one);
    if (!row || row.asks !== (this.renaming === one)) {
      this.rows.set(one, row = make("div", {node: one, asks: this.renaming === one, role: "treeitem"}, ...["twist", "name", "count"].map((className) => make("span", {className}))));
      row.firstChild.ariaHidden = "true";
      row.children[1].translate = false;
      if (row.asks) this.ask(row.children[1], one);
    }
    const open = !!this.query || this.open.has(one), n = one.kids ? this.model.values(one).length : this.records.get(one.name ?? "");
    Object.assign(row, {id: `${name}-${i}`, draggable: !row.asks, ariaLevel: level, ariaPosInSet: place, ariaSetSize: of, ariaSelected: this.chosen.has(one), ariaExpanded: one.kids ? open : null});
    row.className = `${one.kids ? "group" : n === 0 ? "unused" : ""} ${one === at ? "at" : ""} ${this.held.has(one) ? "cut" : ""}`;
    Object.assign(row.style, {top: `${i * ROW}px`, paddingLeft: `${level * 1.1 - 0.85}rem`});
    row.children[0].textContent = one.kids ? (open ? "▾" : "▸") : "";
    if (!row.asks) row.children[1].textContent = this.label(one);
    row.children[2].textContent = one.kids ? this.say("values", {n}) : n === 0 ? this.words.unused : n ? this.say("records", {n}) : "";
    return row;
  }
  ask(place, one) {
    const end = (name) => {
      if (this.renaming !== one) return;
      this.renaming = null;
      this.panes[0].box.focus();
      if (name && name !== ROOT && name !== one.name) this.alter(() => { this.model.touch(one); one.name = name; }); else this.draw();
    };
    const input = make("input", {value: one.name, ariaLabel: this.words.name, onblur: () => end(input.value.trim()), onkeydown: (event) => { event.stopPropagation(); if (event.key === "Escape") end(); if (event.key === "Enter") { event.preventDefault(); input.blur(); } }});
    place.append(input);
    queueMicrotask(() => input.select());
  }
  /** The groups to move to. */
  groups() {
    const {root, tray} = this.model, path = (one) => (one.up === root ? one.name : `${path(one.up)} › ${one.name}`);
    this.targets = [root, ...[...this.model.under(root)].filter((one) => one.kids), tray];
    this.target.replaceChildren(...this.targets.map((one, i) => new Option(one === root ? this.words.root : one === tray ? this.words.tray : path(one), String(i))));
  }

  into(one, pane) { return pane.name === "tray" || !one ? pane.top() : one.kids ? one : one.up; }
  press(event, pane, one) {
    if (!one || event.button || event.target.closest("input")) return;
    if (one.kids && event.target.closest(".twist")) { pane.at = one; this.toggle(one); }
    else if (event.shiftKey || also(event) || !this.chosen.has(one)) this.go(pane, one, event.shiftKey, also(event));
  }
  /** To a row: choose it, or all from where the last was chosen, or it as well. */
  go(pane, one, all, too) {
    const rows = pane.rows.map((row) => row.one);
    if (all) { const [from, to] = [rows.indexOf(pane.from ?? pane.at), rows.indexOf(one)].sort((a, b) => a - b); this.chosen = new Set(rows.slice(Math.max(from, 0), to + 1)); }
    else if (too) this.chosen.delete(one) || this.chosen.add(one);
    else this.chosen = new Set([one]);
    if (!all) pane.from = one;
    this.see(pane, one);
    this.state.textContent = this.say("selected", {n: this.chosen.size});
  }
  toggle(one) { this.open.delete(one) || this.open.add(one); this.draw(); }
  rename(one) { this.renaming = one; this.see(this.panes[0], one); }
  see(pane, one) {
    for (let up = one.up; up; up = up.up) this.open.add(up);
    pane.at = one;
    this.draw();
    const top = pane.rows.findIndex((row) => row.one === one) * ROW, {box} = pane;
    box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + ROW - box.clientHeight));
    this.paint(pane);
  }
  /** Do something, and write it down. */
  alter(act, said) { if (this.model.change(act)) this.wrote(said); else this.draw(); }
  wrote(said = "") {
    this.chosen = new Set([...this.chosen].filter((one) => one.up.kids.includes(one)));
    this.groups();
    this.draw();
    this.state.textContent = said;
    this.field.value = this.model.write();
    this.field.dispatchEvent(new Event("change", {bubbles: true}));
  }
  move(nodes, group) {
    const {root, tray} = this.model, name = group === root ? this.words.root : group === tray ? this.words.tray : group.name;
    this.held = new Set();
    this.open.add(group);
    this.alter(() => this.model.move(nodes, group), this.say("moved", {n: this.model.tops(nodes).length, group: name}));
  }
  act(name) {
    const {model} = this, nodes = model.tops(this.chosen), groups = nodes.filter((one) => one.kids), [first] = groups;
    const acts = {
      undo: () => model.back(model.done, model.undone) && this.wrote(), redo: () => model.back(model.undone, model.done) && this.wrote(),
      open: () => { this.open = new Set(model.under(model.root)); this.draw(); }, close: () => { this.open = new Set(); this.draw(); },
      rename: () => first && this.rename(first), move: () => this.move(nodes, this.targets[this.target.value]), remove: () => this.move(nodes, model.tray),
      ungroup: () => this.alter(() => { for (const group of groups) { const at = group.up.kids.indexOf(group); model.take([group]); model.put(model.empty(group), group.up, at); } }),
      merge: () => this.alter(() => { for (const other of groups.slice(1)) { model.take([other]); model.put(model.empty(other), first); } }),
      group: () => {
        const up = nodes[0].up === model.tray ? model.root : nodes[0].up, at = Math.max(up.kids.indexOf(nodes[0]), 0), made = node(this.words.group, []);
        this.alter(() => { model.take(nodes); model.put(nodes, made); model.put([made], up, at); });
        this.chosen = new Set([made]);
        this.open.add(made);
        this.rename(made);
      },
    };
    if (nodes.length || ["undo", "redo", "open", "close"].includes(name)) acts[name]();
  }
  key(event, pane) {
    const {at, box} = pane, rows = pane.rows.map((row) => row.one), i = rows.indexOf(at), page = Math.floor(box.clientHeight / ROW), group = at?.kids, open = group && this.open.has(at);
    const next = rows[Math.min(Math.max({ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: rows.length, PageDown: i + page, PageUp: i - page}[event.key], 0), rows.length - 1)];
    const acts = next ? {[event.key]: () => (also(event) && !event.shiftKey ? this.see(pane, next) : this.go(pane, next, event.shiftKey))} : also(event) ? {
      z: () => this.act(event.shiftKey ? "redo" : "undo"), y: () => this.act("redo"), " ": () => at && this.go(pane, at, false, true), a: () => { this.chosen = new Set(rows); this.draw(); },
      x: () => { this.held = new Set(this.model.tops(this.chosen)); this.draw(); this.state.textContent = this.say("cut", {n: this.held.size}); },
      v: () => { const [first] = this.held; if (first) { this.chosen = this.held; this.move(this.held, this.into(at, pane)); this.see(pane, first); } },
    } : {
      ArrowRight: () => { if (group && !open) this.toggle(at); else if (group?.length) this.go(pane, group[0]); }, ArrowLeft: () => { if (open) this.toggle(at); else if (at && at.up !== pane.top()) this.go(pane, at.up); },
      " ": () => at && this.go(pane, at), Enter: () => group && this.toggle(at), F2: () => group && this.rename(at), Delete: () => this.act("remove"), g: () => this.act("group"),
      Escape: () => { this.held = new Set(); this.chosen = new Set(); this.draw(); },
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) { event.preventDefault(); act(); }
  }
});
