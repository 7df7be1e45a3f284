// The owner's side: who may ask, the budget, whether the ledger holds, the release table to publish, who asked what.

import { accounts } from "./accounts.js";
import { ask } from "./api.js";
import { button, byId, h, problem, save, table } from "./dom.js";
import { amounts, time } from "./format.js";
import { grants } from "./grants.js";

const RAN = /^(query|many|pg_query|release)$/;

export async function showOwner() {
  byId("owner-shown").replaceChildren(h("p", {}, "Reading…"));
  const parts = []; // one after the other: each at once would need a process of the server's
  for (const [title, shown] of [["Accounts", accounts], ["Budget", grants], ["Ledger", ledger], ["Release table", published], ["Audit log", audit]]) parts.push(await part(title, shown));
  byId("owner-shown").replaceChildren(...parts);
}

// One section; what goes wrong in it leaves the others.
async function part(title, shown) {
  const section = h("section", {}, h("h2", {}, title)); // its table is a landmark of that name
  try {
    section.append(...(await shown()));
  } catch (error) {
    section.append(h("div", { class: "error", role: "alert" }, problem(error)));
  }
  return section;
}

async function ledger() {
  const said = h("div", { role: "status" });
  const check = async () => {
    try {
      const { ok, wrong, head } = await ask("GET", "/v1/ledger");
      said.replaceChildren(ok
        ? h("div", {}, h("p", {}, "Every entry is as it was written."), h("p", { class: "note" }, "Its head, to keep elsewhere: only a head that you keep shows that an old copy was put back."), h("pre", {}, head))
        : h("div", { class: "error" }, h("p", {}, h("strong", {}, "The ledger was changed: "), wrong)));
    } catch (error) {
      said.replaceChildren(h("div", { class: "error" }, problem(error)));
    }
  };
  await check();
  return [said, h("div", { class: "row" }, button("Check again", check))];
}

async function published() {
  const whole = await ask("GET", "/v1/releases");
  const total = amounts({ ...whole, delta_keys: whole.delta_keys ?? null });
  const markdown = async () => save("releases.md", "text/markdown", await ask("GET", "/v1/releases", undefined, { accept: "text/markdown" }));
  return [h("p", {}, `${whole.releases.length} charges, together ${total}.`), h("p", {}, whole.meaning),
    h("div", { class: "row" }, button("Download the table to publish", markdown)),
    h("p", { class: "note" }, "It has measurements, noise and costs of each release, and no statements: their analysts chose what is in them.")];
}

let again = () => {}; // reads the log once more
addEventListener("changed", () => again());

const changed = ({ event, what, name, token, role, epsilon, delta, why }) => (event !== "changed" ? "" : [what, name ?? "the dataset", role, token, epsilon && `ε = ${epsilon}`, delta && `δ = ${delta}`, why].filter(Boolean).join(", "));

async function audit() {
  let { entries } = await ask("GET", "/v1/audit");
  if (entries.length === 0) return [h("p", {}, "No log is kept: start the server with ", h("code", {}, "--audit FILE"), ".")];
  const row = (one) => [
    { text: time(one.time), class: "time" }, one.account ?? one.address ?? "", { text: one.event === "asked" ? `${one.ask}, ${one.door}` : one.event, class: "what" },
    { text: one.outcome ?? "", class: one.outcome && one.outcome !== "ok" ? "bad what" : null }, h("code", { class: "statement" }, one.sql ?? one.release ?? changed(one)),
  ];
  const spot = h("div", {}), choice = h("select", { "aria-label": "Which lines", change: () => draw() }, ["Runs and refusals", "Everything"].map((one) => h("option", {}, one)));
  const draw = () => {
    const shown = entries.filter((one) => choice.selectedIndex === 1 || RAN.test(one.ask ?? "") || one.event !== "asked");
    spot.replaceChildren(h("p", { class: "note" }, `${shown.length} of the newest ${entries.length} lines.`), table("Audit log", ["Time", "Who", "What", "Outcome", "Statement"], shown.map(row)));
  };
  draw();
  again = async () => {
    ({ entries } = await ask("GET", "/v1/audit"));
    draw();
  };
  return [h("div", { class: "row" }, choice), spot];
}
