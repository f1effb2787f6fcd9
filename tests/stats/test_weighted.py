"""Effects as functions of counts: owners that are drawn with all their items."""

import numpy as np

from spanjury.stats.arrays import FloatArray
from spanjury.stats.weighted import BLOCK, by_owner, mean_drop


def test_the_counts_of_items_are_made_in_blocks_with_the_same_result() -> None:
    owner = np.arange(BLOCK // 2) % 3
    sizes = []

    def effect(counts: FloatArray) -> FloatArray:
        sizes.append(len(counts))
        return mean_drop(owner)(counts)

    counts = np.array([[1.0, 1.0, 1.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]])
    np.testing.assert_allclose(by_owner(effect, owner)(counts), [1, 0, 1, 2], atol=1e-5)
    assert sizes == [2, 2]
