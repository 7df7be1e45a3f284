// The budget as a gauge: what is spent, what the query in the editor would add, what is left.

import { byId, h } from "./dom.js";
import { amounts, short } from "./format.js";

let held = null, next = null;

export function showBudget(budget, who) {
  held = { budget, who };
  draw();
}

export function forgetBudget() {
  held = next = null;
}

// what the query in the editor would charge; null: nobody knows yet
export function showNext(cost) {
  next = cost;
  draw();
}

function draw() {
  if (held === null) return;
  const { budget, who } = held, own = budget.per_analyst[who];
  const gauges = [gauge("The dataset's", budget)];
  if (own) gauges.push(own.total.epsilon === null ? h("p", { class: "note" }, `You spent ${amounts(own.spent)}.`) : gauge("Yours", own));
  if (budget.max_per_query) gauges.push(h("p", { class: "note" }, `One query may cost at most ${amounts(budget.max_per_query)}.`));
  byId("budget").replaceChildren(...gauges);
}

// Under zcdp it is ρ that adds up.
function gauge(label, { total, spent, left }) {
  const [sign, part] = total.rho === null ? ["ε", "epsilon"] : ["ρ", "rho"];
  if (total[part] === null) return h("p", {}, `${label}: no limit; spent ${amounts(spent)}.`);
  const share = (amount) => `${Math.min(100, (100 * amount) / (total[part] || 1))}%`;
  const more = next?.[part] ?? 0, over = more > left[part];
  const bars = [h("div", { class: "spent" }), h("div", { class: over ? "next over" : "next" })];
  bars[0].style.width = share(spent[part]);
  bars[1].style.width = share(Math.min(more, left[part]));
  const words = `${short(left[part])} of ${sign} = ${short(total[part])} left`;
  const delta = total.delta ? `; ${short(left.delta)} of δ = ${short(total.delta)}` : "";
  return h("div", { class: "budget" }, h("p", {}, h("strong", {}, label), ` ${words}${delta}`),
    h("div", { class: "gauge", role: "meter", "aria-label": `${label} budget, spent`, "aria-valuemin": 0, "aria-valuemax": total[part],
      "aria-valuenow": spent[part], "aria-valuetext": words + delta }, bars),
    more > 0 && h("p", { class: "note" }, over ? `This query needs ${sign} = ${short(more)}: more than is left.` : `This query would take ${sign} = ${short(more)}.`));
}
