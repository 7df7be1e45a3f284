// While one types: what the statement would cost, and how far its answer would be off. This is EXPLAIN, which reads nothing
// private and is free.

import { ask, signedIn } from "./api.js";
import { showNext } from "./budget.js";
import { byId, h } from "./dom.js";
import { amounts, rough, short } from "./format.js";

const QUIET = 450; // milliseconds without a key
const NOT_A_QUERY = /^\s*(show|describe|desc|explain|set|reset)\b/i;
let waiting = 0, busy = false, again = false, latest = "", told = null;

// wrong: what to do with an error.
export function estimateSoon(sql, wrong) {
  latest = sql;
  clearTimeout(waiting);
  byId("estimate").classList.add("old");
  waiting = setTimeout(() => estimate(wrong), QUIET);
}

// One at a time: two at once would need two processes of the server's.
async function estimate(wrong) {
  const sql = latest;
  if (busy) return void (again = true);
  if (!sql.trim() || NOT_A_QUERY.test(sql)) return clear();
  [busy, again] = [true, false];
  try {
    const plan = (await ask("POST", "/v1/explain", { sql })).tree;
    const charge = (await ask("POST", "/v1/cost", { sql })).would_charge;
    if (sql === latest) show(plan, charge);
  } catch (error) {
    if (sql === latest && signedIn()) {
      clear();
      wrong(error);
    }
  } finally {
    busy = false;
    if (again) estimate(wrong);
  }
}

function clear() {
  byId("estimate").hidden = true;
  told = null;
  showNext(null);
}

function show(plan, charge) {
  const spot = byId("estimate");
  spot.hidden = false;
  spot.classList.remove("old");
  showNext(charge);
  const lines = linesOf(plan, charge), words = JSON.stringify([plan, charge]);
  if (words === told) return;
  told = words;
  spot.replaceChildren(...lines);
}

function linesOf(plan, charge) {
  if (!plan.stages.length) return [h("p", {}, h("strong", {}, "Free"), ": nothing private is read.")];
  const free = !charge.epsilon && !charge.delta;
  const cost = free
    ? h("p", {}, h("strong", {}, "Free"), ": it repeats a release of yours.")
    : h("p", {}, h("strong", {}, `Costs ${amounts(charge)}`), plan.refused ? "" : ` of ${amounts(plan.left)} left`);
  const refused = plan.refused && !free && h("p", { class: "over" }, `The budget would refuse it (${plan.refused}).`);
  const off = plan.columns.map(({ name }) => offOf(plan, name)).filter((one) => one !== null);
  const threshold = Math.max(...plan.stages.map((stage) => stage.threshold ?? 0));
  const withheld = threshold > 0 && h("p", {}, `Keys of fewer than about ${short(Math.round(threshold))} ${plan.unit}s are withheld.`);
  return [cost, refused || null, off.length ? h("ul", { class: "offs" }, off) : null, withheld || null].filter((one) => one !== null);
}

// of one column: ± beforehand, or of an example
function offOf({ intervals, estimates }, name) {
  const half = intervals[name], guess = estimates[name];
  if (half !== undefined) return h("li", {}, h("code", {}, name), ` ± ${rough(half)}`);
  if (guess === undefined) return null;
  if (guess.half_width === null || guess.half_width === undefined) return h("li", {}, h("code", {}, name), ` ± unknown: ${guess.because ?? "it depends on the data"}`);
  const rows = guess.rows ? ` if a group has ${Math.round(guess.rows).toLocaleString("en-US")} rows` : "";
  return h("li", {}, h("code", {}, name), ` ± about ${rough(guess.half_width)}${rows}`);
}
