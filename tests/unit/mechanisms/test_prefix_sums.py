"""Strategies for cumulative sums: the matrices, their inverses, and how far one unit moves what is measured."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms import laplace
from dpsql.mechanisms.prefix_sums import BITS, MOST, Strategy, Toeplitz, Tree, coefficients, trees
from dpsql.privacy.sensitivity import running_reach

STRATEGIES: list[Strategy] = [Toeplitz(4), Toeplitz(1), Tree(4, 2), Tree(5, 2), Tree(3, 3), Tree(7, 3)]


def matrix(strategy: Strategy) -> np.ndarray:
    """A, as whole numbers."""
    count = strategy.count
    return np.array(
        strategy.measured(np.array(np.eye(count, dtype=int).tolist(), dtype=object)).T.tolist(), dtype=object
    )


def test_coefficients_are_those_of_the_root() -> None:
    for k, c in enumerate(coefficients(MOST)):
        if k < 300 or k == MOST - 1:
            assert abs(Fraction(c) - Fraction(math.comb(2 * k, k) * 2**BITS, 4**k)) <= Fraction(1, 2)
    root = matrix(Toeplitz(6)).astype(float) / 2**BITS
    assert root @ root == pytest.approx(np.tril(np.ones((6, 6))), abs=1e-5)


@pytest.mark.parametrize("size", [2**62, 2**31, 5])
def test_it_is_exact(size: int) -> None:
    """Against sums of Python's integers, at the ends of what totals may be."""
    draw = np.random.default_rng(1)
    for count in (1, 2, 33, 400):
        rows = [[int(x) for x in draw.integers(-size, size, count, endpoint=True)] for _ in range(2)]
        rows.append([-size] * count)
        measured = Toeplitz(count).measured(np.array(rows, dtype=object))
        c = coefficients(count)
        for row, line in zip(rows, measured, strict=True):
            assert [int(v) for v in line] == [sum(c[i - j] * row[j] for j in range(i + 1)) for i in range(count)]
    longest = Toeplitz(MOST).measured(np.array([[size] * MOST], dtype=object))
    assert int(longest[0, -1]) == size * sum(coefficients(MOST))
    tree = Tree(40, 6).measured(np.array([[size] * 40], dtype=object))
    assert [int(v) for v in tree[0, 40:]] == [6 * size] * 6 + [4 * size] + [36 * size, 4 * size][: tree.shape[1] - 47]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 7, 30, 100])
def test_estimates_undo_it(count: int) -> None:
    draw = np.random.default_rng(2)
    sums = np.tril(np.ones((count, count)))
    for strategy in (Toeplitz(count), *trees(count)):
        a = matrix(strategy).astype(float) / strategy.one
        inverse = sums @ np.linalg.pinv(a)
        noisy = draw.normal(size=(3, strategy.rows))
        assert strategy.prefixes(noisy * strategy.one) == pytest.approx(noisy @ inverse.T, abs=1e-6)
        prefix, total = strategy.mean_squares
        if count <= 30:
            assert prefix == pytest.approx((inverse**2).sum(axis=1).mean())
            assert total == pytest.approx((np.linalg.pinv(a) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.parametrize("reach", [1, 3])
def test_no_change_of_a_unit_goes_farther(strategy: Strategy, reach: int) -> None:
    """Every change of the totals within the reach in norm 1, in a tiny world; and one goes as far as is claimed."""
    a, claimed = matrix(strategy), running_reach(reach, strategy)
    largest = 0
    for change in itertools.product(range(-reach, reach + 1), repeat=strategy.count):
        if sum(map(abs, change)) > reach:
            continue
        moved = a @ np.array(change, dtype=object)
        if isinstance(strategy, Tree):
            largest = max(largest, sum(abs(int(m)) for m in moved))
        else:
            largest = max(largest, sum(int(m) ** 2 for m in moved))
    assert largest == (claimed if isinstance(strategy, Tree) else reach**2 * strategy.squared)
    assert isinstance(strategy, Tree) or claimed**2 >= largest > (claimed - 1) ** 2


def test_a_ball_in_norm_2_would_not_do() -> None:
    """(1, …, 1) is within √n there, and moves what is measured much farther than the claim for √n."""
    strategy = Toeplitz(100)
    moved = strategy.measured(np.array([[1] * 100], dtype=object))[0]
    assert math.isqrt(sum(int(m) ** 2 for m in moved)) > 4 * running_reach(10, strategy)


@pytest.mark.parametrize(
    ("count", "toeplitz", "plain", "tree"),
    [(30, 1.99, 3.94, 4.82), (365, 2.78, 13.53, 8.95), (1000, 3.10, 22.37, 10.95)],
)
def test_the_table(count: int, toeplitz: float, plain: float, tree: float) -> None:
    """The docstring's numbers; the tree's within a fiftieth, since means are over some of the places."""
    assert Toeplitz(count).growth == pytest.approx(toeplitz, abs=0.01)
    assert math.sqrt((count + 1) / 2) == pytest.approx(plain, abs=0.01)
    assert min(each.growth for each in trees(count)) == pytest.approx(tree, rel=0.02)


@pytest.mark.slow
def test_widths_of_many_laplace_variables() -> None:
    for scales in ([1.0, 2.0], [0.3, 1.0, 5.0]):
        for level in (0.5, 0.95, 0.999):
            exact = laplace.half_width_of_sum(scales, level)
            assert laplace.half_width_of_many(np.array(scales), level) == pytest.approx(exact, rel=1e-6)
    assert laplace.half_width_of_many(np.array([2.0]), 0.95) == pytest.approx(2 * math.log(20))
    equal = laplace.half_width_of_sum([1.0] * 40)  # near a normal variable of that variance
    assert equal == pytest.approx(1.96 * math.sqrt(80), rel=0.01)
    draw = np.random.default_rng(3)
    scales = draw.uniform(0.5, 1.5, 40)
    sums = np.abs(draw.laplace(size=(200_000, 40)) @ scales)
    for level in (0.5, 0.95, 0.99):
        assert np.mean(sums < laplace.half_width_of_many(scales, level)) == pytest.approx(level, abs=0.004)


@pytest.mark.slow
@pytest.mark.parametrize("tree", [Tree(30, 6), Tree(50, 4), Tree(64, 8), Tree(40, 30)], ids=str)
def test_no_place_has_a_wider_interval(tree: Tree) -> None:
    for prefix in (True, False):
        weights = np.abs(tree.weights(tree.wanted(np.arange(tree.count), prefix=prefix)))
        for level in (0.5, 0.8, 0.95, 0.999):
            widest = max(laplace.half_width_of_many(row[row > 1e-9], level) for row in weights)
            assert tree.noise(level, prefix=prefix)[0] >= widest * (1 - 1e-3)
