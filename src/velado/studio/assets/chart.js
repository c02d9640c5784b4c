// <velado-chart>: a Vega-Lite chart from the data block inside it. Vega is loaded when the first chart is seen.

let loading = null;

/** The library, once. @param {string} address */
function library(address) {
  loading ||= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(window.vegaEmbed);
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

/** Colours and letters of the page. */
function look() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  const ink = of("--ink"), quiet = of("--quiet"), line = of("--line");
  return {
    background: "transparent", font: "system-ui, sans-serif",
    title: {color: ink, subtitleColor: quiet}, view: {stroke: null},
    axis: {labelColor: quiet, titleColor: ink, gridColor: line, domainColor: line, tickColor: line},
    legend: {labelColor: ink, titleColor: ink}, header: {labelColor: ink, titleColor: ink}, text: {color: ink}, rule: {color: quiet},
  };
}

/** A description in the colours of the page: what reports draw in black on white. @param {string} text */
function shaded(text) {
  const style = getComputedStyle(document.documentElement);
  const ours = {"#222222": "--ink", "#000000": "--ink", "#444444": "--quiet", "#666666": "--quiet", "#FFFFFF": "--surface"};
  return text.replace(/"(#[0-9A-F]{6})"/g, (whole, colour) => (ours[colour] ? JSON.stringify(style.getPropertyValue(ours[colour]).trim()) : whole));
}

customElements.define("velado-chart", class extends HTMLElement {
  connectedCallback() {
    this.theme = matchMedia("(prefers-color-scheme: dark)");
    this.redraw = () => this.draw();
    this.theme.addEventListener("change", this.redraw);
    this.seen = new IntersectionObserver((entries) => { if (entries.some((e) => e.isIntersecting)) { this.seen.disconnect(); this.draw(); } }, {rootMargin: "200px"});
    this.seen.observe(this);
  }
  disconnectedCallback() { this.seen.disconnect(); this.theme.removeEventListener("change", this.redraw); this.view?.finalize(); }
  async draw() {
    const block = this.querySelector("script[type='application/json']");
    if (!block) return;
    const {spec, locale} = JSON.parse(shaded(block.textContent || "{}"));
    const embed = await library(this.dataset.vega || "");
    const place = this.querySelector("div") || this.appendChild(document.createElement("div"));
    // Vega describes its marks in English: the title of the chart and the table of its figures say it in every language.
    place.setAttribute("aria-hidden", "true");
    if (spec.width === "container") place.style.width = "100%";
    this.view = await embed(place, spec, {
      ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: {disableDefaultStyle: true, id: "vega-tooltip"},
      formatLocale: locale, config: look(),
    });
    this.toggleAttribute("data-drawn", true);
  }
});
