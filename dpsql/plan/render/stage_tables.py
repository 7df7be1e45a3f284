"""Public keys as a table of the vault: ordinal and value, in the form keys travel in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.domain.types import Atom, Type
from dpsql.plan.transport import transported


def key_table_columns(values: tuple[Atom, ...], type_: Type) -> dict[str, npt.NDArray[Any]]:
    ordinals = np.arange(len(values), dtype=np.int64)
    return {"ordinal": ordinals, "value": transported(values, type_, ordinals)}
