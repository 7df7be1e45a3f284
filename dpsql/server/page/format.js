// Numbers as a reader wants them.

export const isNumber = (value) => typeof value === "number" || typeof value === "bigint";

const WHOLE = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$/;
export const isNumeric = (type) => WHOLE.test(type) || /^(DOUBLE|FLOAT|DECIMAL)/.test(type);
export const isOrdered = (type) => isNumeric(type) || /^(DATE|TIME)/.test(type);

// Decimals come as text.
export function numberOf(value, type) {
  if (isNumber(value)) return Number(value);
  return typeof value === "string" && /^DECIMAL/.test(type) ? Number(value) : null;
}

// The 95 % half-widths of each row, by column.
export function halvesOf(answer) {
  const { intervals = {}, intervals_of_rows: ofRows = [] } = answer.privacy ?? {};
  return answer.rows.map((_, i) => ofRows[i] ?? intervals);
}

// Four digits that count, thousands apart.
export function short(value) {
  if (!Number.isFinite(value)) return value === null || value === undefined ? "unlimited" : String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return value.toLocaleString("en-US", { maximumSignificantDigits: size >= 1e4 ? 15 : 4, maximumFractionDigits: 6 });
}

// Of what is not exact, three digits.
export const rough = (value) => short(Number(value.toPrecision(3)));

// A number to the digits that its interval leaves it: two of the interval's.
const places = (half) => Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(half))));
const fixed = (value, digits) => value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export function withInterval(value, half) {
  const digits = places(half);
  return [fixed(value, digits), fixed(half, digits)];
}

export function cellText(value, type) {
  if (value === null || value === undefined) return "NULL";
  if (/^TIMESTAMP/.test(type)) return String(value).replace("T", " ").replace(/ 00:00:00$/, "");
  if (typeof value === "number") return WHOLE.test(type) ? String(value) : short(value);
  return typeof value === "object" ? JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one)) : String(value);
}

// ε, δ where there is any, and ρ where it is what counts.
export function amounts(cost) {
  const parts = [`ε = ${short(cost.epsilon)}`];
  if (cost.delta) parts.push(`δ = ${short(cost.delta)}`);
  if (cost.delta_keys !== null && cost.delta_keys !== undefined) parts.push(`ρ = ${short(cost.rho)}`);
  return parts.join(", ");
}

export const cap = (cost, without = "no cap") => (cost.epsilon === null && cost.delta === null ? without : amounts(cost));

export const time = (text) => text.replace("T", " ").replace("Z", " UTC");

export const bracketed = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
