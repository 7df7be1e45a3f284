// What is asked of the server. The token is kept for this tab alone, and leaves in a header, never in an address.

const KEPT = "dpsql token";

export class Refused extends Error {
  constructor(told, status) {
    super(told.what);
    this.told = told;
    this.status = status;
  }
}

export const signedIn = () => sessionStorage.getItem(KEPT) !== null;
export const keepToken = (token) => sessionStorage.setItem(KEPT, token);
export const dropToken = () => sessionStorage.removeItem(KEPT);

// The answer; Refused with the server's own words, or ours where it has none.
export async function ask(method, path, body, { accept = "application/json" } = {}) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(KEPT) ?? ""}`, accept };
  const text = body === undefined ? undefined : JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: text, cache: "no-store", credentials: "omit" });
  } catch {
    throw new Refused({ what: "the server cannot be reached", fix: "Is it running? Try again." }, 0);
  }
  const said = await answer.text();
  if (answer.ok) return accept === "application/json" ? read(said) : said;
  const refused = new Refused(told(said, answer.status), answer.status);
  if (answer.status === 401) dispatchEvent(new CustomEvent("notletin", { detail: refused }));
  throw refused;
}

function told(said, status) {
  try {
    return JSON.parse(said).error ?? { what: `the server answered ${status}` };
  } catch {
    return { what: `the server answered ${status}` };
  }
}

// Whole numbers beyond 2^53 keep their digits, where the browser tells them.
function read(said) {
  return JSON.parse(said, (_, value, context) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context.source) : value);
}
