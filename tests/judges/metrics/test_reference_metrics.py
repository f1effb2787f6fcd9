"""What holds for every metric that compares an output with references."""

import math
import pickle

import pytest
from fakes.metric_texts import ODD_TEXTS, varied_samples, wild_samples
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import (
    CorpusMetric,
    MergeableMetric,
    MetricCard,
    Sample,
    SegmentMetric,
)
from spanjury.judges.metrics.card_files import read_cards
from spanjury.judges.metrics.edits.character import Character
from spanjury.judges.metrics.edits.eed import Eed
from spanjury.judges.metrics.edits.error_rates import Cer, Wer
from spanjury.judges.metrics.edits.ter import Ter
from spanjury.judges.metrics.overlap.bleu import Bleu, SacreBleu
from spanjury.judges.metrics.overlap.chrf import Chrf, ChrfPlusPlus
from spanjury.judges.metrics.overlap.cider import Cider, CiderD
from spanjury.judges.metrics.overlap.meteor import Meteor
from spanjury.judges.metrics.overlap.nist import Nist
from spanjury.judges.metrics.overlap.rouge import Rouge1, Rouge2, RougeL, RougeLsum
from spanjury.judges.metrics.overlap.rouge_s import RougeS
from spanjury.judges.metrics.overlap.rouge_w import RougeW
from spanjury.judges.metrics.overlap.token_overlap import F1, Accuracy, Precision, Recall

CARDS = read_cards("spanjury.judges.metrics.cards")
METRICS: dict[str, SegmentMetric] = {
    "accuracy": Accuracy(),
    "bleu": Bleu(),
    "cer": Cer(),
    "character": Character(),
    "chrf": Chrf(),
    "chrf-plus-plus": ChrfPlusPlus(),
    "cider": Cider(),
    "cider-d": CiderD(),
    "eed": Eed(),
    "f1": F1(),
    "meteor": Meteor(synonyms=False),
    "precision": Precision(),
    "recall": Recall(),
    "rouge-1": Rouge1(stem=True),
    "rouge-2": Rouge2(),
    "rouge-l": RougeL(script="unicode"),
    "rouge-lsum": RougeLsum(),
    "rouge-s": RougeS(unigrams=True, skip=-1),
    "rouge-w": RougeW(),
    "sacrebleu": SacreBleu(),
    "ter": Ter(),
    "wer": Wer(),
}
every_metric = pytest.mark.parametrize("name", METRICS)


def within(card: MetricCard, scores: list[float]) -> bool:
    return all(math.isfinite(score) and card.low <= score <= card.high for score in scores)


@every_metric
@settings(max_examples=40)
@given(data=st.data())
def test_scores_of_any_texts_are_within_the_bounds_of_the_card(
    name: str, data: st.DataObject
) -> None:
    card, metric = CARDS[name], METRICS[name]
    samples = data.draw(wild_samples(references=3 if card.references == "many" else 1))
    scores = metric.score_segments(samples)
    assert len(scores) == len(samples)
    assert within(card, list(scores))
    if isinstance(metric, CorpusMetric):
        assert within(card, [metric.score_corpus(samples)])


@settings(max_examples=40)
@given(samples=wild_samples(references=3))
def test_nist_of_any_texts_is_within_the_bounds_of_its_card(samples: list[Sample]) -> None:
    assert within(CARDS["nist"], [Nist().score_corpus(samples)])


@every_metric
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_compared_with_themselves_and_with_words(name: str, text: str) -> None:
    samples = [Sample(output=text, references=(text,)), Sample(output=text, references=("a b",))]
    assert within(CARDS[name], list(METRICS[name].score_segments(samples)))


@every_metric
def test_two_blank_texts_have_the_best_score_and_a_blank_output_a_bad_one(name: str) -> None:
    card = CARDS[name]
    samples = [Sample(output="", references=(" ",)), Sample(output=" ", references=("a b",))]
    both, output_only = METRICS[name].score_segments(samples)
    assert both == card.best
    worst = {"higher": card.low, "lower": min(card.high, 100.0 if name == "ter" else 1.0)}
    assert output_only == worst[card.direction]


@every_metric
def test_a_score_depends_on_other_samples_only_where_the_card_says_so(name: str) -> None:
    samples = varied_samples(30)
    alone = [METRICS[name].score_segments([sample])[0] for sample in samples]
    together = METRICS[name].score_segments(samples)
    assert (list(together) != alone) == CARDS[name].batch_dependent


@every_metric
def test_levels_of_the_card_are_what_the_metric_does(name: str) -> None:
    levels = {"segment", "corpus"} if isinstance(METRICS[name], MergeableMetric) else {"segment"}
    assert set(CARDS[name].levels) == levels


@every_metric
def test_a_metric_can_be_sent_to_another_process(name: str) -> None:
    metric = METRICS[name]
    copy = pickle.loads(pickle.dumps(metric))
    assert copy.signature == metric.signature
    assert copy.score_segments([]) == []


@every_metric
def test_more_damage_never_looks_better_over_a_corpus(name: str) -> None:
    text = "the cat sat on the mat while it was raining outside and nobody came to visit us today"
    words = text.split()
    samples = [
        Sample(output=" ".join([*words[:kept], *["x"] * (len(words) - kept)]), references=(text,))
        for kept in (18, 12, 6, 0)
    ]
    scores = METRICS[name].score_segments([*samples, Sample(output="z", references=("y",))])[:4]
    better = CARDS[name].direction == "higher"
    assert list(scores) == sorted(scores, reverse=better)
    assert scores[0] != scores[3]


def test_words_of_an_answer_are_compared_as_squad_does() -> None:
    # "cat sat mat" against "cat sat there twice": 2 shared; 2/3, 2/4, 2 * 2 / 7
    sample = Sample(output="The cat sat: a mat.", references=("cat SAT there twice",))
    assert Precision().score_segments([sample]) == [pytest.approx(2 / 3)]
    assert Recall().score_segments([sample]) == [pytest.approx(2 / 4)]
    assert F1().score_segments([sample]) == [pytest.approx(4 / 7)]
    exact = [Sample(output="The  Cat!", references=("a cat",)), sample]
    assert Accuracy().score_segments(exact) == [1.0, 0.0]


@pytest.mark.parametrize("name", [name for name in METRICS if name not in {"ter", "meteor", "eed"}])
def test_long_texts_are_scored(name: str) -> None:
    sample = varied_samples(1, seed=1)[0]
    long = Sample(output=sample.output * 40, references=(sample.references[0] * 40,))
    assert within(CARDS[name], list(METRICS[name].score_segments([long])))
