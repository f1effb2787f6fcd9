"""Token tables as metrics see them: the same numbers that their scores are made of."""

# ruff: noqa: E402 -- torch may be missing, and is asked for first

import numpy as np
import pytest
from fakes.installed import imported

torch = imported("torch")


from spanjury.adapters.weights.bertscore import BERTScore
from spanjury.adapters.weights.movers import WMD, MoverScore
from spanjury.judges.core import Sample
from spanjury.orchestration.wiring.metric_pages import metric_page

SAMPLE = Sample(output="the cat sat on a mat .", references=("two dogs ran home",))


def test_the_flow_of_words_costs_what_their_distance_is(vectors: str) -> None:
    metric = WMD(vectors=vectors)
    sample = Sample(output="East north unheard east", references=("west, NORTHEAST",))
    flow = metric.flow(sample)
    assert (flow.output, flow.reference) == (("East", "north"), ("west", "NORTHEAST"))
    assert flow.shares.sum(axis=1) == pytest.approx([2 / 3, 1 / 3])
    assert flow.shares.sum(axis=0) == pytest.approx([1 / 2, 1 / 2])
    assert [np.sum(flow.shares * flow.distances)] == pytest.approx(metric.score_segments([sample]))


def test_the_words_of_a_flow_are_those_that_are_used(vectors: str) -> None:
    flow = WMD(vectors=vectors, most_words=1).flow(
        Sample(output="west east east", references=("north",))
    )
    assert (flow.output, flow.reference) == (("east",), ("north",))


@pytest.mark.parametrize("idf", [False, True])
def test_the_flow_of_tokens_costs_what_a_movers_score_lacks(bert: str, idf: bool) -> None:
    metric = MoverScore(model=bert, idf=idf, layers=2)
    flow = metric.flow(SAMPLE)
    assert flow.output == ("the", "cat", "sat", "on", "a", "mat", ".")
    (score,) = metric.score_segments([SAMPLE])
    assert 1 - np.sum(flow.shares * flow.distances) == pytest.approx(score, abs=1e-6)


def test_a_models_tokens_flow_too(bert: str) -> None:
    metric = WMD(model=bert)
    flow = metric.flow(SAMPLE)
    assert flow.reference == ("two", "dogs", "ran", "home")
    assert [np.sum(flow.shares * flow.distances)] == pytest.approx(metric.score_segments([SAMPLE]))


def test_similarities_are_cosines_of_the_texts_own_tokens(bert: str) -> None:
    table = BERTScore(model=bert).similarities(
        Sample(output=SAMPLE.output, references=(SAMPLE.output,))
    )
    assert table.output == table.reference == ("the", "cat", "sat", "on", "a", "mat", ".")
    np.testing.assert_allclose(np.diag(table.values), 1, atol=1e-5)
    np.testing.assert_allclose(table.values, table.values.T, atol=1e-5)
    assert np.abs(table.values).max() <= 1 + 1e-5


@pytest.mark.parametrize("name", ["bertscore", "moverscore", "wmd"])
@pytest.mark.parametrize("output", ["the cat", ""])
def test_every_model_has_its_page(bert: str, name: str, output: str) -> None:
    page = metric_page(
        f"{name}:model={bert},name=n", Sample(output=output, references=("two dogs",)), row="r 1"
    )
    assert "<h1><bdi>n: r 1</bdi></h1>" in page
    assert '"dogs"' in page
