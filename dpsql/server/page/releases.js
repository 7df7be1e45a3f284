// Earlier releases: what the ledger has on record. Opening one is free. A link names it by its number and the beginning of
// its plan's fingerprint, and has nothing else; who follows it signs in with a token of their own.

import { ask } from "./api.js";
import { button, byId, h, problem, say, table } from "./dom.js";
import { amounts, time } from "./format.js";
import { shownAnswer } from "./result.js";

const nameOf = ({ id, plan }) => `${id}-${plan.slice(0, 32)}`;
const counted = (one) => amounts({ ...one, delta_keys: one.accounting === "zcdp" ? one.delta_keys : null });

export async function showReleases(me) {
  const spot = byId("releases-list");
  try {
    const { releases } = await ask("GET", "/v1/releases");
    spot.replaceChildren(releases.length === 0 ? h("p", {}, "Nothing was released yet.") : listed(releases.reverse(), me));
  } catch (error) {
    spot.replaceChildren(h("div", { class: "error", role: "alert" }, problem(error)));
  }
}

function listed(releases, me) {
  const everybody = me.role === "owner";
  const heads = ["Release", "Statement", { text: "Cost", class: "number" }, ...(everybody ? ["Analyst"] : []), "Released"];
  const rows = releases.map((one) => [
    one.state === "released" && one.sql ? h("a", { href: `#/releases/${nameOf(one)}` }, "Open ", h("span", { class: "unseen" }, "release "), one.id) : `${one.id}: ${one.state}`,
    h("code", { class: "statement" }, one.sql ?? one.measurements.map(({ name }) => name).join(", ")),
    { text: counted(one), class: "number" },
    ...(everybody ? [one.analyst ?? ""] : []),
    { text: time(one.time), class: "time" },
  ]);
  const whose = everybody ? "Releases to everybody" : "Your releases";
  return h("div", {}, h("p", { class: "note" }, `${whose}, the newest first. Opening one is free.`), table(whose, heads, rows));
}

export async function showRelease(name, edit) {
  const spot = byId("release-shown");
  byId("release-title").textContent = `Release ${name.split("-")[0]}`;
  spot.replaceChildren(h("p", {}, "Opening…"));
  spot.dataset.name = name;
  try {
    const answer = await ask("GET", `/v1/releases/${encodeURIComponent(name)}`), one = answer.release;
    if (spot.dataset.name !== name) return; // another was opened meanwhile
    const copied = h("span", { class: "note" });
    const copy = async () => {
      await navigator.clipboard.writeText(location.href);
      copied.textContent = "Copied. Readers need a token of their own.";
      say(copied.textContent);
    };
    spot.replaceChildren(
      h("p", { class: "note" }, `Released ${time(one.time)}${one.analyst ? ` to ${one.analyst}` : ""}; ${counted(one)}. Opening it was free.`),
      h("pre", { class: "statement" }, one.sql),
      h("div", { class: "row" }, button("Ask again or change it", () => edit(one.sql)), button("Copy link", copy), copied),
      shownAnswer(answer, `release-${one.id}`), h("p", { class: "note" }, one.meaning));
    say(`Release ${one.id} is open`);
  } catch (error) {
    spot.replaceChildren(h("div", { class: "error", role: "alert" }, problem(error)));
  }
}
