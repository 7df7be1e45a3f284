"""Why PostgreSQL and Spark have no form of some calls, and the other way, in the words that both say."""

from __future__ import annotations

OUTSIDE = "Apply it outside, to released numbers or keys."
LIBRARY = "sin cos tan cot asin acos atan atan2 sinh cosh tanh exp ln log log10 log2 power cbrt".split()
FAR_MONTHS, FAR_DAYS, FAR_TIME = 48_000, 1_460_000, 1_460_000 * 86_400_000_000
ASCII = "translate(x, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
DIGITS = "Engines write the digits of reals in different ways. CAST it to BIGINT first."
TYPED = (
    "Which texts are numbers, dates or booleans, engines decide in different ways. If it is a stored column, declare it "
    "with that type in the metadata; or compare texts."
)
