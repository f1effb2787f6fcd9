"""BARTScore and Prism against the losses of the model itself."""

# ruff: noqa: E402 -- torch may be missing, and is asked for first
import math

import pytest
from fakes.installed import imported

torch = imported("torch")

from fakes.tiny_models import WINDOW, tiny_tokenizer
from transformers import (
    AutoModelForSeq2SeqLM,
    M2M100Config,
    M2M100ForConditionalGeneration,
    NllbTokenizer,
)

from spanjury.adapters.weights.likelihood import (
    BARTScore,
    BARTScoreFromSource,
    Direction,
    Prism,
    PrismFromSource,
)
from spanjury.judges.core import ConfigError, Sample

PAIRS = [
    ("the cat sat on a mat .", "a cat sat on the mat while it rained"),
    ("two dogs ran home", "two dogs ran home"),
    ("home", "the cat ran home and it rained all day long ."),
]
SAMPLES = [
    Sample(output=output, references=(reference,), source=f"{reference} {output}")
    for output, reference in PAIRS
]


def _log_likelihood(folder: str, read: str, written: str, *, first: int) -> float:
    """Return the mean over the tokens of ``<s> written </s>`` from number `first` on."""
    tokenizer = tiny_tokenizer()
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    labels = torch.tensor([tokenizer(written)["input_ids"]])
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer(read)["input_ids"]]), labels=labels).logits
    logprobs = torch.log_softmax(logits, dim=-1)[0]
    chosen = [float(logprobs[index, token]) for index, token in enumerate(labels[0].tolist())]
    return sum(chosen[first:]) / len(chosen[first:])


def test_bartscore_is_the_mean_log_probability_of_all_tokens(bart: str) -> None:
    output, reference = PAIRS[0]
    forth = _log_likelihood(bart, reference, output, first=0)
    back = _log_likelihood(bart, output, reference, first=0)
    means: dict[Direction, float] = {"precision": forth, "recall": back, "f": (forth + back) / 2}
    for direction, expected in means.items():
        metric = BARTScore(model=bart, direction=direction)
        assert metric.score_segments(SAMPLES[:1]) == pytest.approx([expected], abs=1e-5)
        assert f"|direction:{direction}|" in metric.signature


def test_prism_leaves_the_opening_mark_out(bart: str) -> None:
    output, reference = PAIRS[0]
    forth = _log_likelihood(bart, reference, output, first=1)
    back = _log_likelihood(bart, output, reference, first=1)
    assert Prism(model=bart).score_segments(SAMPLES[:1]) == pytest.approx(
        [(forth + back) / 2], abs=1e-5
    )


def test_with_a_source_no_reference_is_read(bart: str) -> None:
    sample = Sample(output=PAIRS[0][0], source=PAIRS[0][1])
    for metric, first in ((BARTScoreFromSource(model=bart), 0), (PrismFromSource(model=bart), 1)):
        expected = _log_likelihood(bart, sample.source, sample.output, first=first)
        assert metric.score_segments([sample]) == pytest.approx([expected], abs=1e-5)
        assert metric.signature.partition("|")[0].endswith("-source")


@pytest.mark.parametrize("kind", [BARTScore, BARTScoreFromSource, Prism, PrismFromSource])
def test_batches_change_no_score(bart: str, kind: type[BARTScore]) -> None:
    expected = kind(model=bart, batch_size=64).score_segments(SAMPLES)
    for size in (1, 2):
        scores = kind(model=bart, batch_size=size).score_segments(SAMPLES)
        assert scores == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", [BARTScore, BARTScoreFromSource, Prism, PrismFromSource])
def test_empty_texts_are_scored_by_convention(bart: str, kind: type[BARTScore]) -> None:
    guess = -math.log(len(tiny_tokenizer()))
    texts = [("", " "), ("cat", ""), ("\t", "cat")]
    samples = [Sample(output=a, references=(b,), source=b) for a, b in texts]
    assert kind(model=bart).score_segments(samples) == pytest.approx([0.0, guess, guess])


@pytest.mark.parametrize("kind", [BARTScore, BARTScoreFromSource, Prism, PrismFromSource])
def test_long_texts_are_cut_and_counted(bart: str, kind: type[BARTScore]) -> None:
    metric = kind(model=bart)
    assert metric.cut_texts == 0
    cut = " ".join(["cat"] * (WINDOW - 2))
    samples = [
        Sample(output="dogs \ud800", references=(text,), source=text)
        for text in (cut, cut + " ran home")
    ]
    first, second = metric.score_segments(samples)
    assert first == pytest.approx(second, abs=1e-5)
    assert metric.cut_texts > 0
    assert f"|max_tokens:{WINDOW}|" in metric.signature


@pytest.mark.parametrize("kind", [BARTScore, BARTScoreFromSource, Prism, PrismFromSource])
def test_an_empty_batch_is_refused(bart: str, kind: type[BARTScore]) -> None:
    with pytest.raises(ValueError, match="batch_size must be 1 or more"):
        kind(model=bart, batch_size=0)


def test_an_unknown_direction_is_refused(bart: str) -> None:
    with pytest.raises(ValueError, match="direction must be one of .*'precision'"):
        BARTScore(model=bart, direction="up")  # type: ignore[arg-type] # wrong on purpose


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a model that needs languages, which are tokens before the text."""
    folder = tmp_path_factory.mktemp("nllb")
    words = ["<s>", "<pad>", "</s>", "<unk>", "▁", "c", "a", "t", "d", "o", "g", "s"]
    tokenizer = NllbTokenizer(vocab={word: n for n, word in enumerate(words)}, merges=[])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = M2M100ForConditionalGeneration(
            M2M100Config(
                vocab_size=len(tokenizer),
                d_model=16,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                encoder_ffn_dim=16,
                decoder_ffn_dim=16,
                max_position_embeddings=64,
            )
        )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_a_translator_is_given_its_languages(translator: str) -> None:
    metric = PrismFromSource(model=translator, source_language="deu_Latn", language="eng_Latn")
    tokenizer = NllbTokenizer.from_pretrained(translator, src_lang="deu_Latn", tgt_lang="eng_Latn")
    read = tokenizer("dog", return_tensors="pt")
    written = tokenizer(text_target="cats", return_tensors="pt")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(written[0])[0] == "eng_Latn"
    model = AutoModelForSeq2SeqLM.from_pretrained(translator).eval()
    with torch.no_grad():
        logprobs = torch.log_softmax(model(**read, labels=written).logits, dim=-1)[0]
    chosen = logprobs.gather(1, written.T)[1:]  # without the language
    scores = metric.score_segments([Sample(output="cats", source="dog")])
    assert scores == pytest.approx([float(chosen.mean())], abs=1e-5)


def test_a_translator_without_a_language_is_refused(translator: str) -> None:
    sample = Sample(output="cats", references=("dog",))
    for language in ("", "xx"):
        with pytest.raises(ConfigError, match="needs a language"):
            Prism(model=translator, language=language).score_segments([sample])
