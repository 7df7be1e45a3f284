"""The samplers' parts, digit by digit: what is counted here over all outcomes is exact, not sampled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms import coins, entropy, lattice
from dpsql.mechanisms.exp_bounds import exp_minus

LARGEST = 2**64 - 1


class Script:
    """Entropy that hands out the given words; fails when asked for more."""

    def __init__(self, words: list[int]) -> None:
        self.words: Iterator[int] = iter(words)

    def __call__(self, count: int) -> npt.NDArray[np.uint64]:
        return np.array([next(self.words) for _ in range(count)], dtype=np.uint64)


def feed(monkeypatch: pytest.MonkeyPatch, *words: int) -> Script:
    script = Script(list(words))
    monkeypatch.setattr(entropy, "random_words", script)
    return script


def array(*values: int) -> npt.NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


@pytest.mark.parametrize(
    ("rest", "denominator", "k"), [(3, 7, 1), (3, 7, 4), (1, 1, 1), (0, 5, 2), (2**40, 2**41 + 1, 3)]
)
def test_a_ratio_coin_splits_the_words_exactly(
    monkeypatch: pytest.MonkeyPatch, rest: int, denominator: int, k: int
) -> None:
    """rest*share words say yes, the others up to total*share say no, the leftover draws again: exactly rest/total."""
    total = denominator * k
    share = LARGEST // total
    edges = [0, rest * share - 1, rest * share, total * share - 1]
    for word in (edge for edge in edges if 0 <= edge < total * share):
        feed(monkeypatch, word)
        answer = coins._coins_ratio(array(rest), denominator, k)
        assert answer.tolist() == [word < rest * share]
        feed(monkeypatch, word)
        assert coins._coins_ratio(array(rest), array(denominator), k).tolist() == answer.tolist()
    for word in (total * share, LARGEST):
        for again in (0, total * share - 1):
            script = feed(monkeypatch, word, again)
            assert coins._coins_ratio(array(rest), denominator, k).tolist() == [again < rest * share]
            assert list(script.words) == []


def test_uniform_integers_redraw_the_leftover(monkeypatch: pytest.MonkeyPatch) -> None:
    share = LARGEST // 3
    for word, drawn in ((0, 0), (share - 1, 0), (share, 1), (3 * share - 1, 2)):
        feed(monkeypatch, word)
        assert coins.uniform_below(array(3)).tolist() == [drawn]
    feed(monkeypatch, LARGEST, share)
    assert coins.uniform_below(array(3)).tolist() == [1]


def test_the_geometric_table_is_right_wherever_it_decides() -> None:
    """All 2^15 prefixes: the reals of a prefix lie wholly between exp(-v-1) and exp(-v), with 200 digits."""
    undecided = 0
    for prefix, v in enumerate(lattice._GEOMETRIC.tolist()):
        if v == lattice._UNDECIDED:
            undecided += 1
            continue
        assert exp_minus(v + 1, 1, 200)[1] <= prefix << 185
        assert (prefix + 1) << 185 <= exp_minus(v, 1, 200)[0]
    assert 10 <= undecided <= 12


def test_an_undecided_prefix_draws_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """floor(2^15/e) holds exp(-1): the next 64 digits decide between 0 and 1, and equal digits draw once more."""
    low, high = exp_minus(1, 1, 79)
    assert high == low + 1
    prefix, digits = low >> 64, low & LARGEST
    assert lattice._GEOMETRIC[prefix] == lattice._UNDECIDED
    prefixes = np.array([prefix], dtype=np.uint16)
    for word, v in ((digits - 1, 1), (digits + 1, 0)):
        feed(monkeypatch, word)
        assert lattice._geometric(prefixes).tolist() == [v]
    further = exp_minus(1, 1, 143)[0] & LARGEST
    for word, v in ((further - 1, 1), (further + 1, 0)):
        feed(monkeypatch, digits, word)
        assert lattice._geometric(prefixes).tolist() == [v]


def test_a_geometric_value_far_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real that begins with 79 zeros is beyond 54 = floor(79 ln 2), one of 2^-80 is exactly there."""
    feed(monkeypatch, 0, 1 << 63)
    assert lattice._geometric(np.array([0], dtype=np.uint16)).tolist() == [55]
    assert exp_minus(55, 1, 400)[0] > 1 << 320 > exp_minus(56, 1, 400)[1]


def test_a_whole_exponent_by_sixteen_digits_and_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for whole in (1, 2, 11, 12, 15, 16, 40, 10**6, 2**63):
        limit = exp_minus(whole, 1, 16)[0]
        if limit:
            feed(monkeypatch, limit - 1)
            assert coins.coins_whole(array(whole)).tolist() == [True]
        feed(monkeypatch, limit + 1)
        assert coins.coins_whole(array(whole)).tolist() == [False]
        digits = exp_minus(whole, 1, 80)[0] & LARGEST
        feed(monkeypatch, limit, digits + 1)
        assert coins.coins_whole(array(whole)).tolist() == [False]
        if digits:
            feed(monkeypatch, limit, digits - 1)
            assert coins.coins_whole(array(whole)).tolist() == [True]


def test_the_series_coin_follows_its_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails at the k-th toss: heads for odd k."""
    for failing in range(1, 8):
        feed(monkeypatch, *([0] * (failing - 1)), LARGEST - 2**20)
        assert coins.coins_fraction(array(1), 2).tolist() == [failing % 2 == 1]


def test_a_laplace_proposal_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Word = 48 bits of u, 15 of v, the sign: u + t*v, minus zero dropped, u outside dropped."""
    t = 10
    share = (2**48 - 1) // t
    zero = 2**15 - 1  # the prefix of a large real: v = 0
    one = 2**15 // 4  # 1/4 lies between exp(-2) and exp(-1): v = 1
    accept = LARGEST - 2**32  # fails at the first toss of the series: heads
    for u, prefix, sign, value in ((7, one, 0, [17]), (7, one, 1, [-17]), (0, zero, 0, [0]), (0, zero, 1, [])):
        feed(monkeypatch, (u * share) << 16 | prefix << 1 | sign, accept)
        assert lattice._laplace_block(t, 1).tolist() == value
    feed(monkeypatch, 2**64 - 1)
    assert lattice._laplace_block(t, 1).tolist() == []
    feed(monkeypatch, (7 * share) << 16 | one << 1, 0, LARGEST - 2**32)  # heads once, then not: rejected
    assert lattice._laplace_block(t, 1).tolist() == []


def test_a_gaussian_beyond_64_bits_is_decided_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    t = 2**20
    y = np.array([2**60, -(2**31) - t, t, -t, 0], dtype=np.int64)
    monkeypatch.setattr(lattice, "_laplace_block", lambda t, proposals: y)
    assert lattice._gaussian_block(t, 5).tolist()[:2] == [t, -t]


@pytest.mark.parametrize("t", [0, -1, 2**31, 2**40])
def test_laplace_scales_out_of_range(t: int) -> None:
    with pytest.raises(ValueError, match="scale"):
        lattice.discrete_laplace(t, 1)


@pytest.mark.parametrize("t", [0, -1, 2**21, 2**40])
def test_gaussian_scales_out_of_range(t: int) -> None:
    with pytest.raises(ValueError, match="scale"):
        lattice.discrete_gaussian(t, 1)


@pytest.mark.parametrize("size", [0, 1, 2, 17, 2**15, 2**15 + 1, 100_001])
def test_sizes(size: int) -> None:
    for draw in (lattice.discrete_laplace, lattice.discrete_gaussian):
        drawn = draw(37, size)
        assert (drawn.shape, drawn.dtype) == ((size,), np.dtype(np.int64))


def test_coins_refuse_what_is_no_probability() -> None:
    with pytest.raises(ValueError, match="coin"):
        coins.bernoulli_exp([-1], [2])
    with pytest.raises(ValueError, match="coin"):
        coins.bernoulli_exp([1], [0])
    with pytest.raises(ValueError, match="integers"):
        coins.bernoulli_exp(np.array([0.5]), 1)  # type: ignore[arg-type]  # what mypy would refuse
    with pytest.raises(TypeError):
        lattice.discrete_laplace(1.5, 1)  # type: ignore[arg-type]  # the same
    with pytest.raises(ValueError, match="beyond"):
        coins._coins_ratio(array(1), 2**62 + 1, 1)


def test_a_wide_coin_decides_beyond_its_first_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """n/d below 2^-40: the 40 digits are 0; a word among the last 2^24 is compared with the digits of exp(-n/d)."""
    numerator, denominator = 1, 2**41 + 1
    digits = exp_minus(numerator, denominator, 128)[0]
    first, second = digits >> 64, digits & LARGEST
    assert first >= 2**64 - 2**24
    whole = 12_345  # of the whole part, 0: heads whatever is drawn
    tails = LARGEST - 2**50  # fails the first toss of the series: the coin of the digits shows heads
    for words, heads in (
        ((first - 1,), True),
        ((first + 1,), False),
        ((first, second - 1), True),
        ((first, second + 9), False),
    ):
        script = feed(monkeypatch, whole, tails, *words)
        assert coins.coins_wide([numerator], denominator).tolist() == [heads]
        assert list(script.words) == []
    feed(monkeypatch, whole, tails, 0)
    assert coins.coins_wide([numerator], denominator).tolist() == [True]


def test_certain_and_hopeless_coins() -> None:
    assert coins.bernoulli_exp(np.zeros(1000, dtype=np.int64), 3).all()
    assert not coins.bernoulli_exp(np.full(1000, 2**62), 1).any()
    assert not coins.bernoulli_exp([2**200] * 10, [1] * 10).any()
    assert coins.bernoulli_exp([0] * 10, [2**200] * 10).all()
    assert coins.coins_wide([0, 2**200, 2**70 * 3**50], 3**50).tolist() == [True, False, False]
    assert coins.bernoulli_exp([], []).shape == (0,)
    assert coins.bernoulli_exp(np.zeros((2, 3), dtype=np.int64), 3).shape == (2, 3)


def test_squares_beyond_words_are_integers() -> None:
    """Of a mixture of integers below and above 2^63 numpy makes floats, which no coin takes."""
    heads = coins.bernoulli_exp(lattice._squares(np.array([0, 3 * 2**30, 2**40])), 2**57)
    assert heads.tolist() == [True, False, False]  # P[the second] is e^(-72)
