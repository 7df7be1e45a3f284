"""PrivateFrame: a dataframe's habits over the same plans, budget and noise as SQL."""

from dpsql.frames.frame import PrivateFrame
from dpsql.frames.result import NoisyFloat, NoisyInt, Result

__all__ = ["NoisyFloat", "NoisyInt", "PrivateFrame", "Result"]
