// The statement: written here, run from here.

import { ask } from "./api.js";
import { byId, problem, say } from "./dom.js";
import { shownAnswer } from "./result.js";

export function startEditor() {
  byId("question").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  byId("sql").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
}

let running = false;

async function run() {
  const sql = byId("sql").value;
  if (running || !sql.trim()) return;
  running = true;
  byId("run").disabled = true;
  byId("run").textContent = "Running…";
  byId("problem").replaceChildren();
  say("Running");
  try {
    const answer = await ask("POST", "/v1/query", { sql });
    byId("answer").replaceChildren(shownAnswer(answer, "answer"));
    say(answer.rows === null ? "Done" : `${answer.rows.length} rows`);
  } catch (error) {
    byId("problem").replaceChildren(problem(error));
  } finally {
    running = false;
    byId("run").disabled = false;
    byId("run").textContent = "Run";
    dispatchEvent(new Event("released"));
  }
}
