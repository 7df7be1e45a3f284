"""What else there is to say of a row, and why another program is better than dpsql, where it is.

Keys of reasons: question ("" for speed), program ("" for any), our form that it beats.
"""

from __future__ import annotations

FREE, CAPPED = OURS = ("dpsql, nothing declared", "dpsql, same cap")
REMARKS = {
    ("median", "opendp (Polars)"): "chooses among given candidates: here 5,001",
    ("public keys", "smartnoise-sql"): "shows the keys that occur; here all do",
    ("private keys", "smartnoise-sql"): "half of ε counts units, for the choice of keys",
    (
        "private keys",
        "pipeline-dp",
    ): "private keys with a cap on the rows in all are a TypeError; at most 10 keys of 10 rows each",
    ("average", "pyqrlew"): "by its own account two Gaussians of noise multiplier 5.3: together ε = 1.14",
    ("variance", "pyqrlew"): "by its own account three Gaussians of noise multiplier 5.3: together ε = 1.42",
}
TOLD = "it was told the cap, and dpsql paid a part of ε to choose one; told the same, dpsql is as near or nearer"
ONE_COUNT = (
    "all of ε goes into one count of each key, shown where it is above 164; dpsql first votes on keys, with about half of ε:"
    " it finds half as many keys again, rarer ones, and has the other half for the counts"
)
PASSES = (
    "Polars works on rows in memory (2.6 times as much of it), and its 2 s of planning show less and less; dpsql reads"
    " the file in five statements (votes on keys, two choices, count, sum), with a cap in two"
)
ACCURACY: dict[tuple[str, str, str], str] = {
    **{(question, "", FREE): TOLD for question in ("average", "variance", "median", "public keys")},
    ("private keys", "opendp (Polars)", FREE): ONE_COUNT,
    ("private keys", "opendp (Polars)", CAPPED): ONE_COUNT,
}
SPEED: dict[tuple[str, str, str], str] = {("", "opendp (Polars)", form): PASSES for form in OURS}
