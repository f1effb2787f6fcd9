"""MoverScore and word mover's distance: how far words must move."""

# ruff: noqa: E402 -- torch may be missing, and is asked for first
import math
from pathlib import Path

import numpy as np
import pytest
from fakes.installed import imported

torch = imported("torch")

from fakes.tiny_models import WINDOW, tiny_tokenizer
from scipy.optimize import linprog
from transformers import AutoModel

from spanjury.adapters.weights.encoder import Idf
from spanjury.adapters.weights.movers import WMD, MoverScore, transport_cost
from spanjury.judges.core import ConfigError, Sample

TEXTS = ["the cat sat on a mat .", "two dogs ran home", "it rained all day", "home"]
SAMPLES = [
    Sample(output=output, references=(reference,)) for output in TEXTS for reference in TEXTS
]
# east, north and west, and one between east and north


def _sample(output: str, reference: str) -> Sample:
    return Sample(output=output, references=(reference,))


@pytest.mark.parametrize(
    ("output", "reference", "distance"),
    [
        ("east", "north", math.sqrt(2)),  # a quarter of a circle: the chord
        ("east", "west", 2.0),
        ("East", "EAST", 0.0),  # as written, or else in small letters
        ("east east north", "north, east; east", 0.0),
        # a half stays in the east, a half goes from north to west
        ("east north", "east west", math.sqrt(2) / 2),
        # each goes an eighth of a circle
        ("east north", "northeast", math.sqrt(2 - math.sqrt(2))),
        ("east unheard", "east", 0.0),  # words without a vector are passed over
        ("", "unheard", 0.0),
        ("east", "unheard", 2.0),
    ],
)
def test_the_distance_of_words_is_the_work_of_moving_them(
    vectors: str, output: str, reference: str, distance: float
) -> None:
    scores = WMD(vectors=vectors).score_segments([_sample(output, reference)])
    assert scores == pytest.approx([distance], abs=1e-7)


def test_words_move_between_a_models_tokens_too(bert: str) -> None:
    scores = WMD(model=bert).score_segments([_sample("cat dogs", "dogs"), _sample("mat", "mat")])
    weights = AutoModel.from_pretrained(bert).get_input_embeddings().weight.detach().numpy()
    cat, dogs = (weights[tiny_tokenizer()(word)["input_ids"][1]] for word in ("cat", "dogs"))
    chord = np.linalg.norm(cat / np.linalg.norm(cat) - dogs / np.linalg.norm(dogs))
    assert scores == pytest.approx([chord / 2, 0.0], abs=1e-6)


def test_the_rarest_words_of_a_long_text_are_left_out(vectors: str) -> None:
    metric = WMD(vectors=vectors, most_words=1)
    assert metric.score_segments([_sample("east east north", "east")]) == [0.0]
    assert "|most_words:1|" in metric.signature


@pytest.mark.parametrize(
    ("content", "problem"),
    [("", "holds no word vectors"), ("a 1 2\nb 1\n", "line 2"), ("a 1 x\n", "not a file of word")],
)
def test_a_file_without_vectors_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    file = tmp_path / "wrong.txt"
    file.write_text(content)
    with pytest.raises(ConfigError, match=problem):
        WMD(vectors=str(file)).score_segments([_sample("a", "a")])


def test_a_distance_needs_one_kind_of_vectors(vectors: str, bert: str) -> None:
    with pytest.raises(ConfigError, match="wmd needs word vectors or, instead, a model"):
        WMD(vectors=vectors, model=bert)
    with pytest.raises(ConfigError, match="there is no file 'nothing.txt'"):
        WMD(vectors="nothing.txt")
    with pytest.raises(ValueError, match="most_words must be 1 or more"):
        WMD(vectors=vectors, most_words=0)


def test_the_cost_of_transport_is_that_of_the_linear_programme() -> None:
    rng = np.random.default_rng(3)
    for n, m in [(1, 1), (3, 5), (8, 4)]:
        points, others = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))
        shares, parts = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
        unit = [heap / np.linalg.norm(heap, axis=1, keepdims=True) for heap in (points, others)]
        cost = np.linalg.norm(unit[0][:, None] - unit[1][None], axis=-1)
        leaving = np.kron(np.eye(n), np.ones(m))
        coming = np.kron(np.ones(n), np.eye(m))
        best = linprog(
            cost.ravel(), A_eq=np.vstack([leaving, coming]), b_eq=np.concatenate([shares, parts])
        )
        scores = transport_cost((points, 7 * shares), (others, parts))
        assert scores == pytest.approx(best.fun, abs=1e-9)


def test_a_movers_score_is_what_the_hidden_states_say(bert: str) -> None:
    (scores,) = MoverScore(model=bert, idf=False, layers=2).score_segments([_sample("cat", "dogs")])
    vectors = []
    for word in ("cat", "dogs"):  # <s> word </s>
        with torch.no_grad():
            output = AutoModel.from_pretrained(bert)(
                torch.tensor([tiny_tokenizer()(word)["input_ids"]]), output_hidden_states=True
            )
        last = [states[0, 1] / states[0, 1].norm() for states in output.hidden_states[1:]]
        low, high = torch.minimum(*last), torch.maximum(*last)
        pooled = torch.cat([low, (last[0] + last[1]) / 2, high])
        vectors.append(pooled / pooled.norm())
    # One word to one word: there is but one way.
    assert scores == pytest.approx(1 - float((vectors[0] - vectors[1]).norm()), abs=1e-6)


def test_a_text_is_moved_least_to_itself(minilm: str) -> None:
    text = "The committee approved the new budget on Monday."
    others = (text, "On Monday the panel passed the budget.", "Penguins cannot fly at all.")
    for metric in (MoverScore(model=minilm, idf=False), WMD(model=minilm)):
        same, near, far = metric.score_segments([_sample(other, text) for other in others])
        if isinstance(metric, WMD):
            same, near, far = 1 - same, 1 - near, 1 - far
        assert same == pytest.approx(1, abs=1e-6)
        assert same > near > far


def test_outputs_equal_to_their_references_are_all_best(bert: str) -> None:
    scores = MoverScore(model=bert).score_segments([_sample(text, text) for text in TEXTS])
    assert scores == pytest.approx([1.0] * len(TEXTS), abs=1e-6)


def test_batches_change_no_score(bert: str) -> None:
    expected = MoverScore(model=bert, batch_size=64).score_segments(SAMPLES)
    for size in (1, 3):
        scores = MoverScore(model=bert, batch_size=size).score_segments(SAMPLES)
        assert scores == pytest.approx(expected, abs=1e-5)


def test_words_of_every_text_have_no_weight() -> None:
    weights = Idf.of([[1, 2, 2], [1, 3]])
    assert weights(1) == 0
    assert weights(2) == pytest.approx(math.log(3 / 2))
    assert weights(9) == pytest.approx(math.log(3))


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize(
    ("output", "reference", "score"), [(" ", "", 1.0), ("", "cat", -1.0), ("cat", "", -1.0)]
)
def test_empty_texts_are_scored_by_convention(
    bert: str, output: str, reference: str, score: float, idf: bool
) -> None:
    metric = MoverScore(model=bert, idf=idf)
    assert metric.score_segments([_sample(output, reference)]) == [score]


def test_long_texts_are_cut_and_counted(bert: str) -> None:
    metric = MoverScore(model=bert)
    assert metric.cut_texts == 0
    metric.score_segments([_sample("cat " * WINDOW, "cat \ud800")])
    assert metric.cut_texts == 1
    assert f"|max_tokens:{WINDOW}|" in metric.signature


def test_options_out_of_range_are_refused(bert: str) -> None:
    with pytest.raises(ValueError, match="layers and batch_size must be 1 or more"):
        MoverScore(model=bert, layers=0)
