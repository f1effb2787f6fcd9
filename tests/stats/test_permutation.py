"""Random signs: in blocks that fit in memory, and fair."""

import math

import numpy as np
import pytest

from spanjury.stats.significance.permutation import BLOCK, random_signs


def test_signs_come_in_blocks_that_fit_and_are_fair() -> None:
    blocks = list(random_signs(np.random.default_rng(0), 2500, items=1000))
    assert [len(block) for block in blocks] == [BLOCK // 1000, BLOCK // 1000, 500]
    assert all(set(np.unique(block)) == {-1, 1} for block in blocks)
    assert abs(np.concatenate(blocks).mean()) < 4 / math.sqrt(2_500_000)


def test_no_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 draw, got 0"):
        next(random_signs(np.random.default_rng(0), 0, items=2))
