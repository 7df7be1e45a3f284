"""What else there is to say of a row, and why another program is better than dpsql, where it is.

Keys of reasons: question ("" for speed), program ("" for any), our form that it beats.
"""

from __future__ import annotations

FREE, CAPPED = OURS = ("dpsql, nothing declared", "dpsql, same cap")
REMARKS = {
    ("median", "opendp (Polars)"): "chooses among given candidates, here 5,001",
    ("public keys", "smartnoise-sql"): "shows the keys that occur; here all of them do",
    ("private keys", "smartnoise-sql"): "half of ε counts units, for the choice of keys",
    (
        "private keys",
        "pipeline-dp",
    ): "private keys with a cap on all rows raise a TypeError; so at most 10 keys of 10 rows each",
    ("average", "pyqrlew"): "it reports two Gaussians of noise multiplier 5.3: together ε = 1.14",
    ("variance", "pyqrlew"): "it reports three Gaussians of noise multiplier 5.3: together ε = 1.42",
}
TOLD = "it knows the cap, and dpsql spends a part of ε to choose one; with the same cap, dpsql is at least as accurate"
ONE_COUNT = (
    "all of ε goes into one count of each key, shown if it is above 164; dpsql first votes on keys, with about half of ε:"
    " it finds half as many keys again, rarer ones, and has the other half of ε for the counts"
)
PASSES = (
    "Polars works on rows in memory (it uses 2.6 times as much), and its 2 s of planning matter less and less; dpsql reads"
    " the file in five statements (votes on keys, two choices, count, sum), with a cap in two"
)
ACCURACY: dict[tuple[str, str, str], str] = {
    **{(question, "", FREE): TOLD for question in ("average", "variance", "median", "public keys")},
    ("private keys", "opendp (Polars)", FREE): ONE_COUNT,
    ("private keys", "opendp (Polars)", CAPPED): ONE_COUNT,
}
SPEED: dict[tuple[str, str, str], str] = {("", "opendp (Polars)", form): PASSES for form in OURS}
