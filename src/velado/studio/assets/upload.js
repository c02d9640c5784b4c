// <velado-upload>: files are sent in pieces, go on where they were after a broken connection, and are then sent as a form.
// <velado-go>: a form that is sent as soon as it is there. <velado-file>: the text of a file, put into a field.

const PIECE = 8_000_000, TRIES = 4, PAUSE = 400;

/** What is kept of an upload that was begun, so that the same file goes on after a reload. @param {File} file */
const mark = (file) => `velado-upload:${file.name}:${file.size}:${file.lastModified}`;
const kept = {
  get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
  set: (name, value) => { try { value ? localStorage.setItem(name, value) : localStorage.removeItem(name); } catch { /* not kept, then */ } },
};

/** A request to the service; what it refuses is thrown with its code, message and hint. @param {string} path @param {RequestInit} options */
async function api(path, options = {}) {
  const csrf = document.querySelector("meta[name=csrf]")?.getAttribute("content") || "";
  const headers = {"X-CSRF-Token": csrf, "Accept-Language": document.documentElement.lang, ...options.headers};
  const answer = await fetch(`/api/v1${path}`, {...options, headers});
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  // Without a problem of the service it is a proxy that answers, and the service may come back.
  const problem = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(problem.message || answer.statusText), problem);
}

class Sending {
  /** @param {File} file @param {HTMLElement} row @param {VeladoUpload} owner */
  constructor(file, row, owner) {
    Object.assign(this, {file, row, owner, id: "", offset: 0, state: "sending", stop: new AbortController()});
    this.bar = /** @type {HTMLProgressElement} */ (row.querySelector("progress"));
    row.querySelector("[data-name]").textContent = file.name;
    this.bar.max = file.size || 1;
    this.bar.setAttribute("aria-label", file.name);
    row.querySelector("[data-cancel]").addEventListener("click", () => this.cancel());
    row.querySelector("[data-again]").addEventListener("click", () => this.run());
  }

  async run() {
    this.say("sending");
    this.stop = new AbortController();
    for (let tries = 0; ; tries++) {
      try {
        await this.begin();
        while (this.offset < this.file.size) { await this.piece(); tries = 0; }
        kept.set(mark(this.file), "");
        this.say("done");
        this.owner.ended();
        return;
      } catch (error) {
        if (this.stop.signal.aborted) return;
        const known = error.code === "wrong-offset" || error.code === "upload-busy" || error.code === "upload-cut";
        if (error.code && !known) { this.refused(error); return; }
        if (tries + 1 >= TRIES) { this.say("broken"); return; }
        await new Promise((resolve) => setTimeout(resolve, PAUSE * 2 ** tries));
      }
    }
  }

  /** Announce the file, or find out how far it got. */
  async begin() {
    const known = this.id || kept.get(mark(this.file));
    if (known) {
      try {
        const found = await api(`/uploads/${known}`, {signal: this.stop.signal});
        this.id = found.id;
        this.at(found.offset);
        return;
      } catch (error) { if (error.code !== "not-found") throw error; }
    }
    const body = JSON.stringify({name: this.file.name, bytes: this.file.size});
    const made = await api("/uploads", {method: "POST", body, headers: {"Content-Type": "application/json"}, signal: this.stop.signal});
    this.id = made.id;
    kept.set(mark(this.file), made.id);
    this.at(made.offset);
  }

  async piece() {
    const headers = {"Upload-Offset": String(this.offset), "Content-Type": "application/octet-stream"};
    const body = this.file.slice(this.offset, this.offset + PIECE);
    const found = await api(`/uploads/${this.id}`, {method: "PATCH", body, headers, signal: this.stop.signal});
    this.at(found.offset);
  }

  at(offset) {
    this.offset = offset;
    this.bar.value = offset;
    this.say(this.state);
  }

  cancel() {
    this.stop.abort();
    kept.set(mark(this.file), "");
    if (this.id) api(`/uploads/${this.id}`, {method: "DELETE"}).catch(() => {});
    this.state = "cancelled";
    this.row.remove();
    this.owner.ended();
  }

  refused(error) {
    kept.set(mark(this.file), "");
    this.say("refused");
    this.row.querySelector("[data-said]").textContent = [error.message, error.hint].filter(Boolean).join(" ");
  }

  /** @param {string} state */
  say(state) {
    this.state = state;
    this.row.dataset.state = state;
    this.row.querySelector("[data-again]").hidden = state !== "broken";
    const text = this.owner.dataset[state] || "";
    this.row.querySelector("[data-said]").textContent = text.replace("{done}", size(this.offset)).replace("{total}", size(this.file.size));
  }
}

/** Bytes as people write them. @param {number} bytes */
function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (bytes >= 1000 && step < units.length - 1) { bytes /= 1000; step++; }
  return `${bytes.toLocaleString(document.documentElement.lang, {maximumFractionDigits: step > 1 ? 1 : 0})} ${units[step]}`;
}

class VeladoUpload extends HTMLElement {
  connectedCallback() {
    if (this.sendings) return;
    /** @type {Sending[]} */
    this.sendings = [];
    const input = /** @type {HTMLInputElement} */ (this.querySelector("input[type=file]"));
    const zone = this.querySelector("[data-zone]");
    input.addEventListener("change", () => { this.add([...input.files]); input.value = ""; });
    for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => { event.preventDefault(); this.add([...event.dataTransfer.files]); });
    // A file that misses the zone must not take the place of the page.
    this.miss = (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); };
    this.online = () => this.sendings.filter((one) => one.state === "broken").forEach((one) => one.run());
    this.leave = (event) => { if (this.sendings.some((one) => one.state === "sending")) event.preventDefault(); };
    addEventListener("dragover", this.miss);
    addEventListener("drop", this.miss);
    addEventListener("online", this.online);
    addEventListener("beforeunload", this.leave);
    this.toggleAttribute("data-ready", true);
  }

  disconnectedCallback() {
    removeEventListener("dragover", this.miss);
    removeEventListener("drop", this.miss);
    removeEventListener("online", this.online);
    removeEventListener("beforeunload", this.leave);
  }

  /** @param {File[]} files */
  add(files) {
    const template = /** @type {HTMLTemplateElement} */ (this.querySelector("template"));
    const chosen = this.hasAttribute("data-one") ? files.slice(0, 1) : files;
    for (const file of chosen) {
      const row = /** @type {HTMLElement} */ (template.content.firstElementChild.cloneNode(true));
      this.querySelector("[data-files]").append(row);
      const sending = new Sending(file, row, this);
      this.sendings.push(sending);
      sending.run();
    }
  }

  /** Send the form when all files are there that were not cancelled. */
  ended() {
    const all = this.sendings.filter((one) => one.state !== "cancelled");
    if (!all.length || all.some((one) => one.state !== "done")) return;
    const form = this.querySelector("form");
    for (const one of all) {
      const field = Object.assign(document.createElement("input"), {type: "hidden", name: "upload", value: one.id});
      form.append(field);
    }
    form.submit();
  }
}
customElements.define("velado-upload", VeladoUpload);

customElements.define("velado-go", class extends HTMLElement {
  connectedCallback() {
    const form = this.querySelector("form");
    if (form && !this.gone) { this.gone = true; form.submit(); }
  }
});

customElements.define("velado-file", class extends HTMLElement {
  connectedCallback() {
    const input = /** @type {HTMLInputElement} */ (this.querySelector("input[type=file]"));
    input.addEventListener("change", async () => {
      const file = input.files[0], field = /** @type {HTMLTextAreaElement|null} */ (document.getElementById(this.dataset.into));
      if (file && field) { field.value = await file.text(); field.focus(); field.setSelectionRange(0, 0); }
    });
  }
});
