// What a name could be: tables, columns and functions. The list opens as one types; the arrow keys choose, Enter or Tab
// takes what is chosen, Escape closes. While nothing is chosen, Enter and Tab do what they always do.

import { byId, h, say } from "./dom.js";

const MOST = 8;
let known = [];

// A name as SQL has it.
const quoted = (name) => (/^[\p{L}_][\p{L}\d_]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

export function learn({ tables }, { aggregates, functions }) {
  const calls = [...aggregates, ...functions].filter(({ name }) => /^\w+$/.test(name));
  known = [
    ...tables.flatMap((one) => one.columns.map(([name, type]) => ({ text: quoted(name), kind: "column", note: `${type}, ${one.name}`, table: one.name }))),
    ...tables.map((one) => ({ text: quoted(one.name), kind: "table", note: one.description || one.kind })),
    ...calls.map((one) => ({ text: `${one.name.toUpperCase()}(`, kind: "function", note: one.doc.split(". ")[0], call: one.name })),
  ];
  const seen = new Set();
  known = known.filter(({ text, table }) => !seen.has(`${text} ${table}`) && seen.add(`${text} ${table}`));
}

export function forget() {
  known = [];
}

// Offers for the word before the cursor. Columns of tables that the statement names come first, and other tables' after all.
function offers(whole, before, asked) {
  const word = /[\p{L}_][\p{L}\d_]*$/u.exec(before)?.[0] ?? "";
  const written = whole.match(/[\p{L}_][\p{L}\d_]*/gu)?.filter((one) => one === word).length > 1; // an alias, say
  if ((before.split("'").length - 1) % 2 || (!asked && (word.length < 2 || written))) return { word, found: [] };
  const rest = before.slice(0, before.length - word.length), begun = word.toLowerCase();
  const named = new Set(whole.toLowerCase().match(/[\p{L}\d_]+/gu));
  const wantsTable = /\b(from|join)\s+$/i.test(rest), of = /([\p{L}\d_]+)\.$/u.exec(rest)?.[1].toLowerCase();
  const fits = (one) => {
    if (!one.text.toLowerCase().replace(/^"/, "").startsWith(begun) || one.text.toLowerCase() === begun) return false;
    if (of !== undefined) return one.kind === "column" && (one.table.toLowerCase() === of || !tables().has(of));
    return !wantsTable || one.kind === "table";
  };
  const rank = (one) => (one.kind === "column" && !named.has(one.table.toLowerCase()) ? 1 : 0);
  const found = known.filter(fits).sort((a, b) => rank(a) - rank(b));
  const first = found.filter((one, i) => found.findIndex((other) => other.text === one.text) === i);
  return { word, found: first.slice(0, MOST) };
}

const tables = () => new Set(known.filter(({ kind }) => kind === "table").map(({ text }) => text.toLowerCase()));

export function startCompletion(area, list, changed) {
  let shown = [], chosen = -1, word = "";

  function close() {
    shown = [];
    chosen = -1;
    list.hidden = true;
    list.replaceChildren();
    area.removeAttribute("aria-activedescendant");
  }

  function open(asked) {
    const before = area.value.slice(0, area.selectionStart);
    if (area.selectionStart !== area.selectionEnd) return close();
    const { word: begun, found } = offers(area.value, before, asked);
    if (found.length === 0) return close();
    [shown, word, chosen] = [found, begun, -1];
    list.replaceChildren(...found.map((one, i) => h("li", { role: "option", id: `offer-${i}`, mousedown: (event) => { event.preventDefault(); take(i); } },
      h("code", {}, one.text), h("span", { class: "note" }, one.note))));
    list.hidden = false;
    put(before.length - begun.length);
    say(`${found.length} completions`);
    if (asked) choose(0);
  }

  // Below the word, where the painted copy of the text has it.
  function put(at) {
    const copy = document.createRange(), node = byId("painted").firstChild;
    copy.setStart(node, at);
    copy.setEnd(node, at + 1);
    const there = copy.getBoundingClientRect(), outer = list.parentElement.getBoundingClientRect();
    list.style.left = `${Math.max(0, Math.min(there.left - outer.left, outer.width - list.offsetWidth))}px`;
    list.style.top = `${Math.min(there.bottom, outer.bottom) - outer.top + 2}px`;
  }

  function choose(i) {
    chosen = (i + shown.length) % shown.length;
    [...list.children].forEach((one, j) => one.setAttribute("aria-selected", String(j === chosen)));
    area.setAttribute("aria-activedescendant", `offer-${chosen}`);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  }

  function take(i) {
    const { text } = shown[i], start = area.selectionStart - word.length;
    area.setRangeText(text, start, area.selectionStart, "end");
    close();
    changed();
  }

  area.addEventListener("input", (event) => (event.data?.length === 1 || event.inputType === "deleteContentBackward" ? open(false) : close()));
  area.addEventListener("blur", close);
  area.addEventListener("click", close);
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return open(true);
    }
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(chosen < 0 && step < 0 ? shown.length - 1 : chosen + step);
    else if (event.key === "Escape") close();
    else if (chosen >= 0 && ((event.key === "Enter" && !event.ctrlKey) || event.key === "Tab")) take(chosen);
    else {
      if (!/^[\w.]$|^Backspace$|^Shift$/.test(event.key)) close();
      return;
    }
    event.preventDefault();
  });
}
