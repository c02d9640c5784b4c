// Forms and links without reloading, pages that follow a job, a service that is away.
// The server knows one representation, the whole page: what is marked data-part is compared with the new page and changed
// in place, so that focus, scroll positions, open details and half-typed texts stay.

/** @typedef {{url: string, options?: RequestInit, push?: boolean, quiet?: boolean}} Wanted */

const EVERY = 1000, SLOWEST = 5000, PAUSE = 350;
let polled = 0, polling = 0, sequence = 0, asking = 0;
/** When a key was pressed last; what was sent before. */
let pressed = -PAUSE, sent = /** @type {Promise<any>} */ (Promise.resolve());
/** Forms that could not be sent. @type {Set<HTMLFormElement>} */
const unsent = new Set();

/** Fetch a page and bring it into this one; null: the service did not answer. @param {Wanted} wanted @returns {Promise<boolean|null>} */
export async function bring({url, options = {}, push = false, quiet = false}) {
  const mine = quiet ? sequence : ++sequence;
  let answer;
  try {
    answer = await fetch(url, {...options, headers: {Accept: "text/html", ...options.headers}, credentials: "same-origin"});
  } catch (error) {
    away(true);
    return null;
  }
  away(false);
  const kind = answer.headers.get("content-type") || "";
  if (!kind.startsWith("text/html")) { location.assign(answer.url); return false; }
  const text = await answer.text();
  // A later request has been answered already, or is on its way.
  if (mine !== sequence) return false;
  const page = parsed(text);
  const frame = page.documentElement.dataset.frame;
  if (frame === "problem" && !quiet) { refused(page); return false; }
  const other = frame !== document.documentElement.dataset.frame;
  if (other) { location.assign(answer.url); return false; }
  const there = new URL(answer.url);
  // On another page nothing is half typed yet.
  if (there.pathname !== location.pathname || there.search !== location.search) for (const field of document.querySelectorAll("input, select, textarea")) field.typed = false;
  // The answer to a form that leads nowhere (a conflict, what is wrong in it) has no address of its own.
  const stays = options.method === "POST" && !answer.redirected;
  if (!stays && (push || there.pathname !== location.pathname)) history.pushState({}, "", answer.url);
  else if (!stays && !quiet && answer.redirected) history.replaceState({}, "", answer.url);
  show(page);
  return answer.ok;
}

const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

/** Change the parts of this page into those of another. @param {Document} page */
export function show(page) {
  for (const part of document.querySelectorAll("[data-part]")) {
    const next = page.getElementById(part.id);
    if (!next) continue;
    // What is on its way is older than what is here.
    if (!next.hasAttribute("data-load")) part.loading = "";
    change(part, next);
  }
  if (page.title) document.title = page.title;
  for (const link of page.querySelectorAll("link[rel=stylesheet], script[src]")) {
    const key = link.tagName === "LINK" ? "href" : "src", address = link.getAttribute(key);
    if (document.querySelector(`${link.tagName}[${key}="${address}"]`)) continue;
    const made = document.createElement(link.tagName);
    for (const {name, value} of link.attributes) made.setAttribute(name, value);
    document.head.append(made);
  }
  after();
}

/** Make one element like another. @param {Element} old @param {Element} next */
function change(old, next) {
  if (old.tagName !== next.tagName) { old.replaceWith(document.importNode(next, true)); return; }
  // What was loaded stays until something newer has come; a part with a version is loaded again only from another address.
  const from = next.getAttribute("data-load");
  if (from && next.hasAttribute("data-version") && old.hasAttribute("data-loaded")) {
    if (old.getAttribute("data-loaded") !== from) old.setAttribute("data-load", from);
    return;
  }
  const keep = old.hasAttribute("data-keep") && old.getAttribute("data-version") === next.getAttribute("data-version");
  attributes(old, next);
  if (keep) return;
  if (old.hasAttribute("data-keep")) { old.replaceWith(document.importNode(next, true)); return; }
  if (old instanceof HTMLTextAreaElement) {
    if (!held(old) && old.value !== next.textContent) old.value = next.textContent || "";
    return;
  }
  children(old, next);
  if (old instanceof HTMLSelectElement && !held(old))
    old.value = (next.querySelector("option[selected]") || next.querySelector("option") || {value: ""}).value;
}

/** Whether somebody is at a field, or has typed into it what was not sent yet; radio buttons of a name are one field. @param {any} field */
function held(field) {
  const all = field.type === "radio" ? [...document.getElementsByName(field.name)] : [field];
  return all.some((one) => one === document.activeElement || one.typed);
}

function attributes(old, next) {
  for (const {name} of [...old.attributes])
    if (!next.hasAttribute(name) && !(name === "open" && old.matches("details, dialog"))) old.removeAttribute(name);
  for (const {name, value} of next.attributes)
    if (old.getAttribute(name) !== value && !(name === "open" && old.tagName === "DETAILS")) old.setAttribute(name, value);
  if (!(old instanceof HTMLInputElement) || (old.type !== "hidden" && held(old))) return;
  if (old.type === "checkbox" || old.type === "radio") old.checked = next.hasAttribute("checked");
  else if (old.type !== "file" && old.value !== (next.getAttribute("value") || "")) old.value = next.getAttribute("value") || "";
}

const key = (node) => (node.nodeType === 1 ? node.id || node.getAttribute("data-key") || "" : "");

function children(old, next) {
  const named = new Map([...old.children].filter(key).map((child) => [key(child), child]));
  const wanted = new Set([...next.children].map(key).filter(Boolean));
  let at = old.firstChild;
  for (const child of [...next.childNodes]) {
    while (at && key(at) && !wanted.has(key(at))) { const gone = at; at = at.nextSibling; gone.remove(); }
    const same = key(child) && named.get(key(child));
    if (same) {
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      change(same, child);
    } else if (at && !key(at) && !key(child) && at.nodeType === child.nodeType && at.nodeName === child.nodeName) {
      if (at.nodeType === 1) { const here = at; at = at.nextSibling; change(here, child); }
      else { if (at.data !== child.data) at.data = child.data; at = at.nextSibling; }
    } else old.insertBefore(document.importNode(child, true), at);
  }
  while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
}

/** Say that the service does not answer; take it back when it does, and send what is saved at every change. @param {boolean} gone */
function away(gone) {
  const bar = document.getElementById("away"), was = bar && !bar.hidden;
  if (bar) bar.hidden = !gone;
  clearTimeout(asking);
  if (gone) asking = setTimeout(() => fetch("/api/v1/health").then(() => { away(false); after(); }, () => away(true)), 2 * EVERY);
  else if (was) for (const form of [...unsent]) { unsent.delete(form); if (form.isConnected) form.requestSubmit(); }
}

/** Show what was refused above the page, whose entries stay. @param {Document} page */
function refused(page) {
  const dialog = /** @type {HTMLDialogElement|null} */ (document.getElementById("refused"));
  const place = dialog?.querySelector("div");
  if (!dialog || !place) return;
  place.replaceChildren(...[...page.querySelectorAll("#main h1, #main .notice")].map((node) => document.importNode(node, true)));
  if (!dialog.open) dialog.showModal();
}

/** Send a form. @param {HTMLFormElement} form @param {HTMLElement|null} by */
async function send(form, by) {
  const data = new URLSearchParams(/** @type {any} */ (new FormData(form, by || undefined)));
  const url = (by && by.getAttribute("formaction")) || form.getAttribute("action") || location.href;
  const typed = [...form.elements].filter((field) => field.typed);
  const go = (wanted) => { for (const field of typed) field.typed = false; return bring(wanted); };
  document.body.classList.add("busy");
  const get = (form.getAttribute("method") || "get").toLowerCase() === "get";
  if (!get) sent = sent.catch(() => null).then(() => go({url, options: {method: "POST", body: newest(form, data)}}));
  const done = await (get ? go({url: `${url.split("?")[0]}?${data}`, push: true}) : sent);
  document.body.classList.remove("busy");
  if (!done) for (const field of typed) field.typed = true;
  if (done === null && form.dataset.live === "change") unsent.add(form);
  if (done) form.closest("dialog")?.close();
}

/** One change after the other: each is made from the version that the one before has left. @param {HTMLFormElement} form @param {URLSearchParams} data */
function newest(form, data) {
  const version = form.isConnected && form.querySelector("input[name=version]");
  if (version) data.set("version", version.value);
  return data;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  clearTimeout(form.waiting);
  form.waiting = 0;
  for (const field of form.elements) field.last = field.value;
  if (!form.hasAttribute("data-live") || event.defaultPrevented) return;
  event.preventDefault();
  send(form, event.submitter);
});
document.addEventListener("change", (event) => {
  const form = event.target instanceof Element && event.target.closest("form[data-live=change], form[data-send=change]");
  // What was sent while it was typed is not sent again when its field is left.
  if (!form || event.target.closest("[data-quiet]") || (event.target.last === event.target.value && event.target.matches("input[type=search], [data-eager] input"))) return;
  // By keys one goes through several options to the one that is meant.
  const going = event.target instanceof HTMLSelectElement && event.timeStamp - pressed < PAUSE;
  clearTimeout(form.waiting);
  form.waiting = setTimeout(() => form.requestSubmit(), going ? 2 * PAUSE : PAUSE / 5);
});
document.addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
document.addEventListener("focusout", (event) => {
  const form = event.target instanceof HTMLSelectElement && event.target.form;
  if (form && form.waiting && form.dataset.live === "change") form.requestSubmit();
});
document.addEventListener("input", (event) => {
  const input = event.target;
  if (!(input instanceof HTMLElement)) return;
  input.typed = true;
  // A slider and its number are one field.
  const twin = document.getElementById(input.dataset.twin);
  if (twin) Object.assign(twin, {value: input.value, typed: true});
  const form = input.closest("form[data-live=change]");
  // What is typed is sent at the end of the field; what is looked for, and forms that show what they would do, at once.
  if (!form || !(input.matches("input[type=search]") || (form.hasAttribute("data-eager") && !input.closest("[data-quiet]")))) return;
  clearTimeout(form.waiting);
  form.waiting = setTimeout(() => form.requestSubmit(), PAUSE);
});
document.addEventListener("click", (event) => {
  const at = (css) => event.target instanceof Element && event.target.closest(css);
  const opener = at("[data-dialog]");
  if (opener) { event.preventDefault(); document.getElementById(opener.dataset.dialog)?.showModal(); return; }
  if (at("[data-close]")) { at("dialog")?.close(); return; }
  const copy = at("[data-copy]");
  if (copy) { navigator.clipboard?.writeText(document.getElementById(copy.dataset.copy)?.textContent || "").then(() => { copy.dataset.done = ""; }); return; }
  const link = at("a[data-live]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const url = new URL(location.href);
  if (link.dataset.live === "with") for (const [name, value] of new URL(link.href).searchParams) url.searchParams.set(name, value);
  bring({url: link.dataset.live === "with" ? url.href : link.href, push: true});
});
addEventListener("popstate", () => bring({url: location.href}));

/** Once for every page: follow what goes on, load what takes longer, let what was said go. */
function after() {
  clearTimeout(polling);
  if (document.querySelector("[data-poll]")) {
    const pause = Math.min(EVERY * 1.15 ** polled++, SLOWEST);
    polling = setTimeout(async () => { if (document.hidden || !(await bring({url: location.href, quiet: true}))) after(); }, pause);
  } else polled = 0;
  for (const part of document.querySelectorAll("[data-load]")) {
    const url = part.getAttribute("data-load") || "";
    part.removeAttribute("data-load");
    load(part, url);
  }
  reachable();
  const said = document.getElementById("said");
  if (said && said.firstElementChild) { clearTimeout(said.leaving); said.leaving = setTimeout(() => said.replaceChildren(), 6000); }
}

/** What scrolls can be scrolled by keys. */
function reachable() {
  for (const box of document.querySelectorAll(".scroll, pre"))
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.setAttribute("tabindex", "0");
}
addEventListener("resize", reachable);

/** Fill a part from a page of its own: an element with the same id; a worker may be asked for it. */
async function load(part, url) {
  part.loading = url;
  part.setAttribute("aria-busy", "true");
  try {
    const csrf = document.querySelector("meta[name=csrf]")?.getAttribute("content") || "";
    const page = parsed(await (await fetch(url, {method: "POST", body: new URLSearchParams({csrf})})).text());
    if (part.loading !== url) return;
    const next = page.getElementById(part.id);
    if (next) { change(part, next); part.setAttribute("data-loaded", url); }
    else part.replaceChildren(...[...page.querySelectorAll("#main > *")].map((n) => document.importNode(n, true)));
    // It is asked for once.
    part.removeAttribute("data-load");
    after();
  } catch (error) { part.setAttribute("data-load", url); away(true); }
  part.removeAttribute("aria-busy");
}

// On a narrow screen the steps are a strip: the current one is in sight.
for (const at of document.querySelectorAll(".steps [aria-current]")) at.closest("nav").scrollLeft = at.offsetLeft - 80;
after();
