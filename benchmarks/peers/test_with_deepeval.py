"""The calls of `benchmarks.batch_peers` as tests for ``deepeval test run``, one after another."""

# mypy: ignore-errors
# Its imports are installed in an environment of its own.

import pytest
from deepeval import assert_test
from deepeval.test_case import LLMTestCase
from judged_by_deepeval import cases, metric
from peer import read_order

ORDER = read_order()
METRIC = metric(ORDER)


@pytest.mark.parametrize("case", cases(ORDER))
def test_facts_agree(case: LLMTestCase) -> None:
    """Pass if the score is high enough, as the server's always is."""
    assert_test(case, [METRIC])
