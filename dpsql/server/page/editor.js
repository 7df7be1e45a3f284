// The statement: painted, marked where it is wrong, and run from here. The text area stays the browser's own; what is
// coloured lies behind it, in `painted`, with the same text at the same places.

import { ask } from "./api.js";
import { startCompletion } from "./completion.js";
import { byId, h, problem, say } from "./dom.js";
import { estimateSoon } from "./estimate.js";
import { shownAnswer } from "./result.js";

const KEYWORDS = ("ALL AND AS ASC BETWEEN BY CASE CAST CROSS DATE DESC DESCRIBE DISTINCT ELSE END EXCEPT EXISTS EXPLAIN FALSE FILTER FROM " +
  "FULL GROUP HAVING IN INNER INTERSECT INTERVAL IS JOIN LEFT LIKE LIMIT NOT NULL OFFSET ON OPTIONS OR ORDER OUTER OVER PARTITION RIGHT " +
  "ROLLUP SELECT SHOW TABLES THEN TRUE UNION USING WHEN WHERE WINDOW WITH").split(" ");
const TOKEN = new RegExp(String.raw`(?<quoted>'(?:[^']|'')*'?|--[^\n]*)|(?<digit>\b\d+(?:\.\d+)?\b)|\b(?<keyword>${KEYWORDS.join("|")})\b`, "gi");
const PAINTS = typeof Highlight === "function" && CSS.highlights !== undefined;

let wrong = null, running = false, named = "", answered = null;

export const written = () => byId("sql").value;

export function write(sql) {
  byId("sql").value = sql;
  changed();
}

function changed() {
  wrong = null;
  paint();
  markAnswer();
  byId("problem").replaceChildren();
  byId("sql").removeAttribute("aria-invalid");
  estimateSoon(written(), showProblem);
}

// An answer stays while the next statement is written; then it says whose it is.
function markAnswer() {
  const of = byId("answer-of");
  if (of === null) return;
  of.hidden = written() === answered;
  of.replaceChildren("The answer to ", h("code", {}, answered.length > 200 ? `${answered.slice(0, 199)}…` : answered));
}

function paint() {
  const text = byId("sql").value;
  byId("painted").textContent = text + "\n";
  if (!PAINTS) return;
  const node = byId("painted").firstChild, ranges = { quoted: [], digit: [], keyword: [] };
  const range = (start, end) => new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end });
  for (const match of text.matchAll(TOKEN)) {
    const kind = Object.keys(ranges).find((name) => match.groups[name] !== undefined);
    ranges[kind].push(range(match.index, match.index + match[0].length));
  }
  for (const [kind, its] of Object.entries(ranges)) CSS.highlights.set(kind, new Highlight(...its));
  CSS.highlights.set("wrong", new Highlight(...(wrong === null ? [] : [range(...wrong)])));
}

// Where the server counts characters, the browser counts UTF-16 units.
function place(text, [start, end]) {
  const characters = Array.from(text), from = characters.slice(0, start).join("").length;
  const to = from + characters.slice(start, end).join("").length;
  return [Math.min(from, text.length), Math.min(to, text.length)];
}

// An error of the statement: said below, marked in it.
export function showProblem(error) {
  const { at, statement } = error.told ?? {}, text = written();
  wrong = at && statement === text ? place(text, at) : null;
  byId("problem").replaceChildren(problem(error));
  if (wrong !== null) {
    byId("sql").setAttribute("aria-invalid", "true");
    const lines = text.slice(0, wrong[0]).split("\n");
    const where = `line ${lines.length}, column ${lines.at(-1).length + 1}`;
    byId("problem").firstChild.firstChild.append(` (${where})`);
  }
  paint();
}

async function run() {
  const sql = written();
  if (running || !sql.trim()) return;
  running = true;
  named = [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
  byId("stop").hidden = false;
  byId("run").disabled = true;
  byId("run").textContent = "Running…";
  byId("problem").replaceChildren();
  byId("answer").setAttribute("aria-busy", "true");
  say("Running");
  try {
    const answer = await ask("POST", "/v1/query", { sql, query_id: named });
    byId("answer").replaceChildren(h("p", { class: "note", id: "answer-of", hidden: true }), shownAnswer(answer, "answer"));
    answered = sql;
    markAnswer();
    say(answer.rows === null ? "Done" : `The answer has ${answer.rows.length} ${answer.rows.length === 1 ? "row" : "rows"}`);
  } catch (error) {
    showProblem(error);
  } finally {
    running = false;
    if (document.activeElement === byId("stop")) byId("sql").focus();
    byId("stop").hidden = true;
    byId("run").disabled = false;
    byId("run").textContent = "Run";
    byId("answer").removeAttribute("aria-busy");
    dispatchEvent(new Event("released"));
    estimateSoon(written(), showProblem);
  }
}

export function startEditor() {
  const area = byId("sql");
  if (PAINTS) byId("editor").classList.add("painting");
  startCompletion(area, byId("offers"), changed);
  area.addEventListener("input", changed);
  area.addEventListener("scroll", () => (byId("painted").scrollTop = area.scrollTop));
  new ResizeObserver(() => (byId("painted").style.height = `${area.offsetHeight}px`)).observe(area);
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  });
  byId("stop").addEventListener("click", () => ask("POST", "/v1/stop", { query_id: named }).catch(showProblem));
  byId("question").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  paint();
}
