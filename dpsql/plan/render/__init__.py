"""Plans to a backend's SQL.

relation    IR relations, for the vault and for scratch alike
clean       a private table's cleaned projection
selection   the votes for a stage's private keys (votes: what a unit votes with); limits: what choices of limits ask
together    keys and their totals in one statement; kept_pairs: of one relation, in two
stage       what else the vault is asked for a stage, each kind of statement in a module of its own:
            row_totals, unit_totals, distinct_values, candidate_weights
rows        the rows of these statements (keys: their groups; pieces, placed: their integers); printer: what they share
ball        the weights that limit a unit; one_row: the weighed rows where one row of a unit counts
sums        sums of weighed rows, and totals on their noise grids
finish      the noisy table of a stage as the columns the analyst asked for
"""
