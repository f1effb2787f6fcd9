"""BERTScore against its definition and against the library's own arithmetic."""

# ruff: noqa: E402 -- torch may be missing, and is asked for first
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fakes.installed import imported

torch = imported("torch")

from bert_score.utils import (  # type: ignore[import-untyped]  # it brings no types
    bert_cos_score_idf,
    get_idf_dict,
)
from fakes.tiny_models import WINDOW, save_tiny, tiny_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer, RobertaTokenizer

from spanjury.adapters.weights.bertscore import BERTScore, Measure
from spanjury.judges.core import Sample

PAIRS = [
    ("the cat sat on a mat .", "a cat sat on the mat while it rained"),
    ("two dogs ran home", "two dogs ran home"),
    ("it rained all day", "the dogs sat"),
    ("home", "the cat ran home and it rained all day long ."),
]
MEASURES: tuple[Measure, ...] = ("precision", "recall", "f1")  # as the library orders them
SAMPLES = [Sample(output=output, references=(reference,)) for output, reference in PAIRS]


def _f1(folder: str, *texts: list[int]) -> float:
    """Match two texts, given as tokens between two marks, by the vectors of layer 1."""
    model = AutoModel.from_pretrained(folder)
    vectors = []
    for ids in texts:
        with torch.no_grad():
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[1][0]
        vectors.append(states / states.norm(dim=1, keepdim=True))
    a, b = vectors
    # Every word is matched with whatever is most alike, marks included; marks are not counted.
    precision = sum(max(float(x @ y) for y in b) for x in a[1:-1]) / (len(a) - 2)
    recall = sum(max(float(x @ y) for x in a) for y in b[1:-1]) / (len(b) - 2)
    return 2 * precision * recall / (precision + recall)


def test_a_score_is_what_the_hidden_states_say(bert: str) -> None:
    output, reference = "the cat ran", "dogs ran home"
    tokens = [tiny_tokenizer()(text)["input_ids"] for text in (output, reference)]
    scores = BERTScore(model=bert, layer=1).score_segments(
        [Sample(output=output, references=(reference,))]
    )
    assert scores == pytest.approx([_f1(bert, *tokens)], abs=1e-6)


def test_robertas_tokenizer_reads_the_first_word_like_any_other(bert: str, tmp_path: Path) -> None:
    folder = tmp_path / "roberta"
    shutil.copytree(bert, folder)
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "c", "a", "t", "Ġ", "at", "Ġc", "Ġcat"]
    RobertaTokenizer(
        vocab={word: n for n, word in enumerate(words)},
        merges=[("a", "t"), ("Ġ", "c"), ("Ġc", "at")],  # type: ignore[list-item]  # they are pairs
    ).save_pretrained(folder)
    metric = BERTScore(model=str(folder), layer=1)
    scores = metric.score_segments([Sample(output="cat", references=(" cat at",))])
    assert scores == pytest.approx([_f1(bert, [0, 11, 2], [0, 11, 8, 9, 2])], abs=1e-6)
    assert metric.score_segments([Sample(output=" ", references=("",))]) == [1.0]


@pytest.mark.parametrize("idf", [False, True])
def test_scores_are_those_of_the_library(minilm: str, idf: bool) -> None:
    tokenizer = AutoTokenizer.from_pretrained(minilm)
    outputs, references = map(list, zip(*PAIRS, strict=True))
    weights = get_idf_dict(references, tokenizer, nthreads=0)
    if not idf:
        weights = dict.fromkeys(range(len(tokenizer)), 1.0)
        weights |= {tokenizer.sep_token_id: 0, tokenizer.cls_token_id: 0}
    theirs = bert_cos_score_idf(
        AutoModel.from_pretrained(minilm).eval(),
        references,
        outputs,
        tokenizer,
        weights,
        device="cpu",
    )
    for column, measure in enumerate(MEASURES):
        ours = BERTScore(model=minilm, measure=measure, idf=idf).score_segments(SAMPLES)
        assert ours == pytest.approx(theirs[:, column].tolist(), abs=2e-6)


def test_a_text_is_most_like_itself_and_least_like_an_unrelated_one(minilm: str) -> None:
    text = "The committee approved the new budget on Monday."
    others = (text, "On Monday the panel passed the budget.", "Penguins cannot fly at all.")
    same, near, far = BERTScore(model=minilm).score_segments(
        [Sample(output=other, references=(text,)) for other in others]
    )
    assert same == pytest.approx(1, abs=1e-6)
    assert same > near > far


def test_neither_batch_nor_company_changes_a_score(bert: str) -> None:
    alone = [BERTScore(model=bert).score_segments([sample])[0] for sample in SAMPLES]
    for size in (1, 3, 64):
        scores = BERTScore(model=bert, batch_size=size).score_segments(SAMPLES * 3)
        assert scores == pytest.approx(alone * 3, abs=1e-5)


def test_threads_share_one_model(bert: str) -> None:
    metric = BERTScore(model=bert, batch_size=2)
    expected = BERTScore(model=bert).score_segments(SAMPLES)
    with ThreadPoolExecutor(4) as threads:
        scores = list(threads.map(metric.score_segments, [SAMPLES] * 8))
    assert all(scores == pytest.approx(expected, abs=1e-5) for scores in scores)


@pytest.mark.parametrize(
    ("output", "reference", "score"), [("", " ", 1.0), ("", "cat", 0.0), ("cat", "\n", 0.0)]
)
def test_empty_texts_are_scored_by_convention(
    bert: str, output: str, reference: str, score: float
) -> None:
    sample = Sample(output=output, references=(reference,))
    assert BERTScore(model=bert).score_segments([sample]) == [score]
    assert BERTScore(model=bert, idf=True).score_segments([sample]) == [score]


def test_one_text_alone_is_scored_with_idf_too(bert: str) -> None:
    # Every token is in every reference, so that all weights are 0.
    assert BERTScore(model=bert, idf=True).score_segments([SAMPLES[1]]) == pytest.approx([1.0])


def test_texts_beyond_the_window_are_cut_and_counted(bert: str) -> None:
    metric = BERTScore(model=bert)
    start = " ".join(["cat"] * (WINDOW - 2))
    longer = Sample(output=start + " dogs ran", references=(start,))
    assert metric.cut_texts == 0
    assert metric.score_segments([longer]) == pytest.approx([1.0])
    assert metric.cut_texts == 1
    assert f"|max_tokens:{WINDOW}|" in metric.signature


@settings(max_examples=25)  # each is read by a model
@given(texts=st.tuples(st.text(max_size=40), st.text(max_size=40)), idf=st.booleans())
def test_whatever_the_texts_scores_are_within_their_bounds(
    texts: tuple[str, str], idf: bool, minilm_metrics: dict[bool, BERTScore]
) -> None:
    scores = minilm_metrics[idf].score_segments([Sample(output=texts[0], references=texts[1:])])
    assert -1 <= scores[0] <= 1


@pytest.fixture(scope="module")
def minilm_metrics(bert: str) -> dict[bool, BERTScore]:
    return {idf: BERTScore(model=bert, idf=idf) for idf in (False, True)}


def test_a_lone_surrogate_is_read_as_a_replacement_character(bert: str) -> None:
    sample = Sample(output="cat \ud800", references=("cat \ufffd",))
    assert BERTScore(model=bert).score_segments([sample]) == pytest.approx([1.0])


def test_the_best_layer_of_a_known_model_is_taken(tmp_path: Path) -> None:
    folder = save_tiny("bert", tmp_path / "bert-base-uncased")  # 9, but this one has 2
    assert "|layer:2|" in BERTScore(model=folder).signature
    assert "|layer:0|" in BERTScore(model=folder, layer=0).signature


def test_only_the_encoder_of_an_encoder_decoder_is_read(tmp_path: Path) -> None:
    metric = BERTScore(model=save_tiny("bart", tmp_path))
    same, other = metric.score_segments([SAMPLES[1], SAMPLES[2]])
    assert same == pytest.approx(1, abs=1e-6)
    assert same > other


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"layer": 3}, "layer must be from 0 to 2"),
        ({"measure": "f2"}, "measure must be one of"),
        ({"batch_size": 0}, "batch_size must be 1 or more"),
    ],
)
def test_odd_options_are_refused(bert: str, options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        BERTScore(model=bert, **options)  # type: ignore[arg-type] # wrong on purpose
