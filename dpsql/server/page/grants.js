// The budget, and what an owner changes of it: more by a grant, less by a limit, each with its reason on record.

import { form } from "./accounts.js";
import { ask } from "./api.js";
import { field, h, say, table } from "./dom.js";
import { amounts, cap, time } from "./format.js";

export async function grants() {
  const place = h("div", {});
  await draw(place, await ask("GET", "/v1/spending"));
  return [place];
}

async function draw(place, { accounts, dataset }, said) {
  const { accounts: people } = await ask("GET", "/v1/accounts");
  const { changes } = await ask("GET", "/v1/changes");
  const rows = accounts.map((one, i) => [i === 0 ? `${dataset} (the dataset)` : one.account, ...[cap(one.total), amounts(one.spent), cap(one.left, "no limit")].map((text) => ({ text, class: "number" }))]);
  const heads = ["Whose", ...["Cap", "Spent", "Left"].map((text) => ({ text, class: "number" }))];
  const names = [...new Set([...accounts.slice(1).map((one) => one.account), ...people.map((one) => one.name)])].sort();
  place.replaceChildren(table("Budget", heads, rows), said ? h("p", { class: "done" }, said) : "", change(place, names),
    ...(changes.length ? [h("h3", {}, "Changes on record"), table("Changes of the budget", ["Time", "What", "Whose", ...["ε", "δ"].map((text) => ({ text, class: "number" })), "Why"], changes.map(row))] : []),
    h("p", { class: "note" }, "On the command line only: ", h("code", {}, "dpsql budget new-epoch"), ", which gives the whole budget again for data about new people, and what the metadata say. ",
      "A stolen token must not be able to do that."));
}

const row = (one) => [{ text: time(one.time), class: "time" }, one.kind === "grant" ? "raised by" : one.epsilon === null && one.delta === null ? "limit lifted" : "limited to", one.analyst ?? "the dataset",
  { text: one.epsilon ?? "", class: "number" }, { text: one.delta ?? "", class: "number" }, one.why];

function change(place, names) {
  const whose = h("select", {}, h("option", { value: "" }, "the dataset"), names.map((one) => h("option", { value: one }, one)));
  const kind = h("select", {}, h("option", { value: "grant" }, "raise the cap by"), h("option", { value: "limit" }, "limit the cap to (nothing: lift the limit)"));
  const [epsilon, delta] = ["decimal", "decimal"].map((inputmode) => h("input", { inputmode, autocomplete: "off", size: "8" }));
  const why = h("input", { autocomplete: "off", maxlength: "500" });
  return form("Change the budget", [h("div", { class: "forms" }, field("Whose", whose), field("What", kind), field("ε", epsilon), field("δ", delta), field("Why (the ledger keeps it)", why))], [["Change", async () => {
    const after = await ask("POST", `/v1/budget/${kind.value}`, { analyst: whose.value || null, epsilon: epsilon.value.trim() || null, delta: delta.value.trim() || null, why: why.value });
    const said = "The budget is changed, from now on.";
    say(said);
    dispatchEvent(new Event("released"));
    await draw(place, after, said);
  }]]);
}
