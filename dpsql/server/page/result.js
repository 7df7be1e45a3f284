// An answer: its table with intervals, what the engine says about it, and its rows as a file.

import { chart } from "./chart.js";
import { button, h, save, table } from "./dom.js";
import { amounts, bracketed, cellText, halvesOf, isNumeric, isOrdered, numberOf, short, withInterval } from "./format.js";

const MOST_SHOWN = 1000;

export function shownAnswer(answer, name) {
  if (answer.rows === null) return h("p", {}, "Done.");
  const lines = linesOf(answer).map((line) => h("li", {}, line));
  return h("div", { class: "result" }, resultTable(answer),
    h("ul", { class: "said" }, lines), chart(answer),
    h("div", { class: "row" }, button("Download CSV", () => save(`${name}.csv`, "text/csv", csv(answer)))),
    answer.privacy && h("details", {}, h("summary", {}, "Privacy report"), h("pre", {}, answer.privacy.text)));
}

function resultTable(answer) {
  const halves = halvesOf(answer);
  const heads = answer.columns.map(([name, type]) => ({ text: name, class: isNumeric(type) ? "number" : null, title: type }));
  const rows = answer.rows.slice(0, MOST_SHOWN).map((row, i) => row.map((value, j) => cell(value, answer.columns[j], halves[i])));
  return table("Result", heads, rows, { class: "data" });
}

function cell(value, [name, type], halves) {
  const number = numberOf(value, type), half = halves[name];
  const side = isNumeric(type) ? "number" : value === null ? "null" : isOrdered(type) ? "time" : null;
  if (number === null || !half) return { text: cellText(value, type), class: side };
  const [shown, off] = withInterval(number, half);
  const swamped = Math.abs(number) < half;
  const parts = h("span", {}, shown, h("span", { class: "off" }, ` ± ${off}`),
    swamped && h("span", { class: "mark", title: "The noise is larger than the number." }, "noise"));
  return { text: parts, class: swamped ? "number swamped" : "number", title: `${value} ± ${half}` };
}

// What the engine reports of an answer, a sentence each.
function linesOf(answer) {
  const { rows, privacy } = answer, count = `${rows.length.toLocaleString("en-US")} ${rows.length === 1 ? "row" : "rows"}`;
  const shown = rows.length > MOST_SHOWN ? `, of which the first ${MOST_SHOWN.toLocaleString("en-US")} are shown` : "";
  if (privacy === null) return [`${count}${shown}; free: nothing private was read`];
  const cost = privacy.repeated ? "a repeat, nothing charged" : `cost ${amounts(privacy.cost)}`;
  const lines = [`${count}${shown}; ${cost}`];
  if (Object.keys(privacy.intervals).length) lines.push("± is a 95 % confidence interval of the noise");
  if (privacy.threshold !== null) lines.push(`keys of fewer than about ${short(Math.round(privacy.threshold))} ${privacy.unit}s are withheld`);
  for (const one of privacy.limits) {
    if (one.epsilon && one.chosen !== null) lines.push(`the data chose: ${one.of} of one ${privacy.unit} up to ${one.chosen}`);
  }
  return [...lines, ...(privacy.swamped ?? []), ...privacy.notes];
}

export function csv(answer) {
  const halves = halvesOf(answer);
  const off = answer.columns.filter(([name]) => halves.some((each) => each[name])).map(([name]) => name);
  const line = (cells) => cells.map((one) => bracketed(one)).join(",") + "\n";
  const text = (value, type) => (value === null ? "" : isNumeric(type) || typeof value === "string" ? String(value) : cellText(value, type));
  const rows = answer.rows.map((row, i) =>
    line([...row.map((value, j) => text(value, answer.columns[j][1])), ...off.map((name) => String(halves[i][name] ?? ""))]));
  return line([...answer.columns.map(([name]) => name), ...off.map((name) => `${name} ± 95 %`)]) + rows.join("");
}
