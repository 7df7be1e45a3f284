// Who is signed in, and which view is shown. Addresses: #/ask, #/releases, #/releases/NAME, #/owner.

import { ask, dropToken, keepToken, signedIn } from "./api.js";
import { forgetBudget, showBudget } from "./budget.js";
import { byId, h, problem, say } from "./dom.js";
import { forget, learn } from "./completion.js";
import { startEditor, write } from "./editor.js";
import { showOwner } from "./owner.js";
import { showRelease, showReleases } from "./releases.js";

const VIEWS = ["signin", "ask", "releases", "release", "owner"];
export const state = { me: null, tables: null };

function show(view) {
  for (const id of VIEWS) byId(id).hidden = id !== view;
  for (const link of byId("views").children) {
    const here = link.hash === `#/${view}` || (view === "release" && link.hash === "#/releases");
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const title = byId(`${view}-title`).textContent;
  document.title = `${title} · dpsql`;
}

async function route() {
  if (!location.hash.startsWith("#/") && location.hash !== "") return; // the link that skips to the content
  if (state.me === null) return show("signin"), byId("token").focus();
  const [, view = "ask", name] = location.hash.split("/");
  if (view === "releases" && name) return show("release"), await showRelease(decoded(name), edit);
  if (view === "releases") return show("releases"), await showReleases(state.me);
  if (view === "owner" && state.me.role === "owner") return show("owner"), await showOwner();
  show("ask");
}

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function edit(sql) {
  write(sql);
  location.hash = "#/ask";
}

async function refreshBudget() {
  const { budget } = await ask("GET", "/v1/budget");
  if (state.me !== null) showBudget(budget, state.me.name);
}

async function begin() {
  const me = await ask("GET", "/v1/me");
  state.tables = await ask("GET", "/v1/tables");
  state.me = me;
  await refreshBudget();
  byId("who").textContent = me.name;
  byId("dataset").textContent = state.tables.dataset;
  showTables(state.tables);
  learn(state.tables, await ask("GET", "/v1/functions"));
  byId("views").querySelector("[href='#/owner']").hidden = me.role !== "owner";
  for (const id of ["views", "account"]) byId(id).hidden = false;
}

function showTables({ tables, unit }) {
  const listed = tables.map((one) => h("details", { open: tables.length < 4 },
    h("summary", {}, h("code", {}, one.name), " ", h("span", { class: "note" }, one.kind)),
    one.description && h("p", { class: "note" }, one.description),
    h("ul", { class: "names" }, one.columns.map(([name, type]) => h("li", {}, h("code", {}, name), " ", h("span", { class: "note" }, type))))));
  byId("tables").replaceChildren(h("p", { class: "note" }, `One ${unit} is what is protected.`), ...listed);
}

function signOut(said) {
  dropToken();
  state.me = state.tables = null;
  for (const id of ["views", "account"]) byId(id).hidden = true;
  for (const id of ["dataset", "who"]) byId(id).textContent = "";
  for (const id of ["answer", "budget", "tables", "releases-list", "release-shown", "owner-shown"]) byId(id).replaceChildren();
  forget();
  forgetBudget();
  write("");
  byId("signin-error").replaceChildren(said ? problem(said) : "");
  route();
}

byId("signin-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("signin-error").replaceChildren();
  keepToken(byId("token").value.trim());
  const send = event.submitter ?? byId("signin-form").querySelector("button");
  send.disabled = true; // a first session takes a moment
  send.textContent = "Signing in…";
  try {
    await begin();
    byId("token").value = "";
    say(`Signed in as ${state.me.name}`);
    await route();
    byId("sql").focus();
  } catch (error) {
    signOut(error);
    byId("token").select();
  } finally {
    send.disabled = false;
    send.textContent = "Sign in";
  }
});

byId("signout").addEventListener("click", () => {
  dropToken();
  location.replace("/"); // nothing of this visit is left, nor what is still to come
});
addEventListener("notletin", ({ detail }) => state.me !== null && signOut(detail));
addEventListener("hashchange", () => {
  route();
  const view = VIEWS.find((id) => !byId(id).hidden);
  if (location.hash.startsWith("#/")) (view === "ask" ? byId("sql") : byId(`${view}-title`)).focus();
});
addEventListener("released", async () => {
  if (state.me === null) return;
  await refreshBudget().catch((error) => byId("budget").replaceChildren(h("div", { class: "error" }, problem(error))));
});

startEditor();
if (signedIn()) await begin().catch(signOut);
await route();
