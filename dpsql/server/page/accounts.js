// Who may ask: the accounts, and what an owner changes of them.

import { ask } from "./api.js";
import { button, field, h, problem, say, table } from "./dom.js";
import { amounts, cap } from "./format.js";

const numbers = (texts) => texts.map((text) => ({ text, class: "number" }));

let again = () => {}; // reads the table once more; the forms and what they said stay
addEventListener("changed", () => again());

export async function accounts() {
  const place = h("div", {});
  await draw(place);
  return [place];
}

async function draw(place, said = []) {
  const { all, shown } = await listed(), list = h("div", {}, shown);
  again = async () => list.replaceChildren((await listed()).shown);
  place.replaceChildren(list, ...said, h("div", { class: "forms" }, adding(place), tokens(place, all), passwords(place, all), revoking(place, all)));
}

async function listed() {
  const { accounts: all } = await ask("GET", "/v1/accounts");
  const { accounts: spending, plans } = await ask("GET", "/v1/spending");
  const rows = all.map((one) => {
    const held = spending.slice(1).find(({ account }) => account === one.name); // the first is the dataset's
    const charges = plans.filter(({ analyst }) => analyst === one.name).reduce((sum, plan) => sum + plan.charges, 0);
    const until = valid(one).map(({ id, expires }) => `${id} until ${day(expires)}`);
    return [one.name, one.role, until.join(", ") || "none", one.password ? "yes" : "no", ...numbers([String(charges), held ? amounts(held.spent) : "", held ? cap(held.total) : ""])];
  });
  return { all, shown: table("Accounts", ["Name", "Role", "Tokens", "Password", ...numbers(["Charges", "Spent", "Cap"])], rows) };
}

const valid = (one) => one.tokens.filter(({ expires }) => expires * 1000 > Date.now());
const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

function adding(place) {
  const name = h("input", { required: true, autocomplete: "off", spellcheck: "false" }), role = h("select", {}, ["analyst", "owner"].map((one) => h("option", {}, one)));
  return form("Add an account", [field("Name", name), field("Role", role)], [["Add", async () => {
    await ask("POST", "/v1/accounts", { name: name.value.trim(), role: role.value });
    await draw(place, [note(`${name.value.trim()} is added. A token or a password lets them in.`)]);
  }]]);
}

const at = (who, what) => `/v1/accounts/${encodeURIComponent(who.value)}/${what}`;
const choice = (all, more) => h("select", more, all.map((one) => h("option", {}, one.name)));

function tokens(place, all) {
  const who = choice(all), days = h("input", { type: "number", min: "1", max: "3660", value: "90" });
  return form("Make a token", [field("Account", who), field("Days that it is valid", days)], [["Make it", async () => {
    const { token } = await ask("POST", at(who, "token"), { days: Number(days.value) });
    await draw(place, [told(who.value, token)]);
  }]]);
}

function passwords(place, all) {
  const who = choice(all), password = h("input", { type: "password", autocomplete: "new-password" });
  return form("Set a password, for psql", [field("Account", who), field("Password, at least 8 characters", password)], [["Set it", async () => {
    await ask("POST", at(who, "password"), { password: password.value });
    await draw(place, [note(`${who.value} has a new password.`)]);
  }]]);
}

// Asked twice: open sessions end with it.
function revoking(place, all) {
  const who = choice(all, { change: () => list() }), which = h("select", { change: () => reset() });
  let sure = false;
  const shown = form("Take access away", [field("Account", who), field("What", which)], [["Take away", async (clicked) => {
    if (!sure) return [sure, clicked.textContent] = [true, `Yes, take it away from ${who.value}`];
    await ask("POST", at(who, "revoke"), which.value ? { token: which.value } : {});
    await draw(place, [note(which.value ? `Token ${which.value} of ${who.value} is revoked.` : `${who.value} cannot get in any more. Open sessions end.`)]);
  }]]);
  const reset = () => [sure, shown.querySelector("button").textContent] = [false, "Take away"];
  const list = () => {
    const held = valid(all.find((one) => one.name === who.value) ?? { tokens: [] });
    which.replaceChildren(h("option", { value: "" }, "all tokens and the password"), ...held.map(({ id, expires }) => h("option", { value: id }, `token ${id} until ${day(expires)}`)));
    reset();
  };
  list();
  return shown;
}

function note(text) {
  say(text);
  return h("p", { class: "done" }, text);
}

// Shown once: it is kept nowhere.
function told(name, token) {
  const text = h("input", { readonly: true, value: token, "aria-label": `New token of ${name}` });
  say(`A token of ${name} is made`);
  return h("div", { class: "done" }, h("p", {}, `A token of ${name}. It is shown only now: give it to them by a safe way.`), text,
    h("div", { class: "row" }, button("Copy", () => navigator.clipboard.writeText(token).then(() => say("Copied")), {})));
}

// Buttons that do something, and what goes wrong beside them.
export function form(title, fields, actions) {
  const wrong = h("div", { class: "error", role: "alert" });
  const buttons = actions.map(([name, act]) => button(name, async (event) => {
    const clicked = event.currentTarget;
    wrong.replaceChildren();
    clicked.disabled = true;
    try {
      await act(clicked);
      dispatchEvent(new Event("changed"));
    } catch (error) {
      wrong.replaceChildren(problem(error));
    } finally {
      clicked.disabled = false;
    }
  }));
  const enter = (event) => (event.preventDefault(), buttons.length === 1 && buttons[0].click());
  return h("form", { submit: enter, "aria-label": title }, h("h3", {}, title), ...fields, h("div", { class: "row" }, buttons), wrong);
}
