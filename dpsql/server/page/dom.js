// Elements. A text is always a text node: what a cell, a name or an error says is never read as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export const h = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);

export const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

// For screen readers: what happened, without moving the focus.
export function say(text) {
  byId("status").textContent = text;
}

export function button(text, click, more) {
  return h("button", { type: "button", click, ...more }, text);
}

let fields = 0;

// A control with its label.
export function field(label, control) {
  control.id = `field-${(fields += 1)}`;
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
}

// rows of cells: an element, or {text, ...attributes} for one that needs them, or a text.
export function table(caption, heads, rows, more) {
  const cell = (name) => (one) => {
    if (one instanceof Node || typeof one !== "object") return h(name, name === "th" ? { scope: "col" } : {}, one);
    const { text, ...attributes } = one;
    return h(name, name === "th" ? { scope: "col", ...attributes } : attributes, text);
  };
  return h("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": caption },
    h("table", more, h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, heads.map(cell("th")))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell("td")))))));
}

export function problem(error) {
  const { code = "", what = String(error), why = "", fix = "" } = error.told ?? {};
  return h("div", { class: "problem" }, h("p", {}, h("strong", {}, code), code ? " " : "", what), why && h("p", {}, why), fix && h("p", {}, fix));
}

// A file for the reader to keep.
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
