// A chart of an answer: a bar for each key, or a point where keys have an order, with its 95 % interval as a whisker.

import { h, svg } from "./dom.js";
import { cellText, halvesOf, isNumeric, isOrdered, numberOf, short } from "./format.js";

const MOST = 60;

// null where there is nothing to draw: no number with an interval, or one row alone.
export function chart(answer) {
  const halves = halvesOf(answer);
  const measured = answer.columns.map(([name, type], j) => ({ name, type, j }))
    .filter(({ name, type }) => isNumeric(type) && halves.some((each) => each[name]));
  const keys = answer.columns.map(([name, type], j) => ({ name, type, j })).filter(({ name }) => !halves.some((each) => each[name]));
  if (answer.rows.length < 2 || measured.length === 0 || keys.length === 0) return null;
  const spot = h("div", {}), draw = () => {
    const width = Math.min(900, Math.max(280, spot.clientWidth));
    spot.replaceChildren(drawn(answer, halves, keys, measured[Math.max(0, choice.selectedIndex)], width));
  };
  const choice = h("select", { "aria-label": "Column of the chart", change: draw }, measured.map(({ name }) => h("option", {}, name)));
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => contentRect.width !== width && ((width = contentRect.width), draw())).observe(spot);
  return h("figure", { class: "chart" }, measured.length > 1 && h("div", { class: "row" }, choice), spot);
}

function drawn(answer, halves, keys, { name, type, j }, width) {
  const all = answer.rows.map((row, i) => ({
    label: keys.map((key) => cellText(row[key.j], key.type)).join(", "),
    at: place(row[keys[0].j], keys[0].type),
    value: numberOf(row[j], type),
    half: halves[i][name] ?? 0,
  })).filter(({ value }) => value !== null);
  const placed = all.filter(({ at }) => at !== null).sort((a, b) => a.at - b.at);
  const ordered = keys.length === 1 && isOrdered(keys[0].type) && placed.length > 2;
  const points = ordered ? placed.slice(0, 5 * MOST) : all.slice(0, MOST);
  const picture = ordered ? line(points, width) : bars(points, width);
  const [from, nulls] = ordered ? [placed, all.length - placed.length] : [all, 0];
  const left = `${nulls ? "; without NULL" : ""}${from.length > points.length ? `; the first ${points.length} of ${from.length}` : ""}`;
  const words = `${name} by ${keys.map((key) => key.name).join(", ")}; whiskers are 95 % confidence intervals${left}`;
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `Chart: ${words}. The table has the numbers.`);
  return h("div", {}, h("p", { class: "note" }, words), picture);
}

function place(value, type) {
  if (isNumeric(type)) return numberOf(value, type);
  const at = typeof value === "string" ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : at;
}

// Round steps over what has to be shown.
function axis(low, high, count) {
  const span = high - low || Math.abs(high) || 1, raw = span / count, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= raw);
  const from = Math.floor(low / step + 1e-9) * step, to = Math.ceil(high / step - 1e-9) * step;
  const ticks = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => from + i * step);
  return { from, to: to === from ? from + step : to, ticks };
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const text = (x, y, anchor, words, more) => svg("text", { x, y, "text-anchor": anchor, ...more }, words);

function bars(points, width) {
  const most = width < 500 ? 14 : 28, longest = Math.min(most, Math.max(...points.map(({ label }) => label.length)));
  const left = 20 + 7 * longest, step = 28;
  const low = Math.min(0, ...points.map(({ value, half }) => value - half)), high = Math.max(0, ...points.map(({ value, half }) => value + half));
  const { from, to, ticks } = axis(low, high, width < 500 ? 3 : 5), x = (value) => left + ((value - from) / (to - from)) * (width - left - 30);
  const bottom = points.length * step + 6;
  const picture = svg("svg", { width, height: bottom + 26, class: "bars" });
  picture.append(...ticks.flatMap((tick) => [svg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: bottom, class: tick === 0 ? "zero" : "grid" }), text(x(tick), bottom + 18, "middle", short(tick))]));
  points.forEach(({ label, value, half }, i) => {
    const y = i * step + step / 2 + 3, swamped = Math.abs(value) < half;
    picture.append(svg("g", { class: swamped ? "swamped" : null }, svg("title", {}, `${label}: ${short(value)} ± ${short(half)}`),
      text(left - 8, y + 5, "end", cut(label, most)),
      svg("rect", { x: Math.min(x(0), x(value)), y: y - 8, width: Math.abs(x(value) - x(0)), height: 16, rx: 2, class: "bar" }),
      ...(half ? [svg("path", { class: "whisker", d: `M${x(value - half)} ${y - 5}v10m0 -5H${x(value + half)}m0 -5v10` })] : [])));
  });
  return picture;
}

function line(points, width) {
  const height = 300, left = 64, bottom = height - 30;
  const lows = points.map(({ value, half }) => value - half), highs = points.map(({ value, half }) => value + half);
  const near = Math.min(...lows) > 0.5 * Math.max(...highs); // far from 0 the axis does not have to show it
  const { from, to, ticks } = axis(near ? Math.min(...lows) : Math.min(0, ...lows), Math.max(0, ...highs), 5);
  const [first, last] = [points[0].at, points.at(-1).at];
  const x = (at) => left + 14 + ((at - first) / (last - first || 1)) * (width - left - 44), y = (value) => bottom - ((value - from) / (to - from)) * (bottom - 12);
  const picture = svg("svg", { width, height, class: "line" });
  picture.append(...ticks.flatMap((tick) => [svg("line", { x1: left, x2: width - 16, y1: y(tick), y2: y(tick), class: tick === 0 ? "zero" : "grid" }), text(left - 8, y(tick) + 5, "end", short(tick))]));
  const every = Math.ceil(points.length / Math.max(1, Math.floor((width - left) / 95)));
  picture.append(...points.filter((_, i) => i % every === 0).map(({ label, at }) => text(x(at), bottom + 20, "middle", cut(label, 12))));
  picture.append(svg("path", { class: "through", d: `M${points.map(({ at, value }) => `${x(at)} ${y(value)}`).join("L")}` }));
  for (const { label, at, value, half } of points) {
    picture.append(svg("g", { class: Math.abs(value) < half ? "swamped" : null }, svg("title", {}, `${label}: ${short(value)} ± ${short(half)}`),
      ...(half ? [svg("path", { class: "whisker", d: `M${x(at) - 4} ${y(value - half)}h8m-4 0V${y(value + half)}m-4 0h8` })] : []),
      svg("circle", { cx: x(at), cy: y(value), r: 4, class: "dot" })));
  }
  return picture;
}
