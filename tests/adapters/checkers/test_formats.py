"""Checkers that transformers alone does not run, beside their authors' way to call each of them."""

import importlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fakes.judges import ASPECT
from fakes.tiny_checkers import NLI, TEXTS, AlignScore, Hhem, save_checker
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BartConfig,
    RobertaConfig,
    T5Config,
)

from spanjury.adapters.checkers.card import read_checker_card
from spanjury.adapters.checkers.folder import FolderChecker, open_folder
from spanjury.adapters.checkers.torch_model import TorchModel
from spanjury.judges.checker.judge import CheckerJudge
from spanjury.judges.core import ClaimPair, ConfigError, JudgeError, Segment

CLAIMS = (
    "The library will close in May.",
    "Mary Evans built the library in 1932.",
    "The roof costs ten million euros, and no one pays for it.",
)
PAIRS = [ClaimPair(passage, claim) for passage in TEXTS for claim in CLAIMS]
SEGMENT = Segment(segment_id="1", output=" ".join(CLAIMS), inputs={"Article": " ".join(TEXTS)})
CLOSE = 1e-5


def supported(checker: FolderChecker) -> list[float]:
    return [answer.supported for answer in checker.check(PAIRS)]


def shares(model: Any, tokenizer: Any, pair: ClaimPair) -> torch.Tensor:  # noqa: ANN401 - classes of transformers
    with torch.inference_mode():
        logits = model(**tokenizer(*pair, return_tensors="pt")).logits[0]
    return torch.softmax(logits, dim=-1)


def test_the_first_token_that_t5_writes_answers_as_in_minichecks_own_way(tmp_path: Path) -> None:
    folder = save_checker("t5", tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    no, yes = (tokenizer(label)["input_ids"][0] for label in "01")
    own = []
    for passage, claim in PAIRS:
        encoded = tokenizer(f"predict: {passage}</s>{claim}", return_tensors="pt")
        with torch.inference_mode():
            start = torch.zeros((1, 1), dtype=torch.long)
            logits = model(**encoded, decoder_input_ids=start).logits[0, 0]
        own.append(torch.softmax(logits[[no, yes]], dim=-1)[1].item())
    checker = open_folder(folder=str(folder))
    assert supported(checker) == pytest.approx(own, abs=CLOSE)
    assert max(own) - min(own) > 0.01
    assert (checker.unit, checker.card.longest) == ("sentence", 2048)
    assert "form:joined" in checker.signature
    swapped = open_folder(folder=str(folder), answers="1/0")
    assert supported(swapped) == pytest.approx([1 - share for share in own], abs=CLOSE)
    assert swapped.signature != checker.signature


def test_an_encoder_decoder_takes_another_template(tmp_path: Path) -> None:
    folder = save_checker("t5", tmp_path / "model")
    (tmp_path / "question.txt").write_text("premise: {passage} hypothesis: {claim}", "utf-8")
    checker = open_folder(folder=str(folder), template=str(tmp_path / "question.txt"))
    assert supported(checker) != supported(open_folder(folder=str(folder)))


def test_the_first_token_of_hhem_is_classified_as_its_card_says_without_its_code(
    tmp_path: Path,
) -> None:
    folder = save_checker("hhem", tmp_path)
    (folder / "modeling_hhem_v2.py").write_text("raise SystemExit('this ran')", encoding="utf-8")
    tokenizer = AutoTokenizer.from_pretrained(folder, config=T5Config())
    model = Hhem.with_weights(folder)
    prompt = (
        "<pad> Determine if the hypothesis is true given the premise?\n\n"
        "Premise: {}\n\nHypothesis: {}"
    )
    own = []
    for pair in PAIRS:
        encoded = tokenizer(prompt.format(*pair), return_tensors="pt")
        assert encoded["input_ids"][0, 0] == 0
        with torch.inference_mode():
            own.append(torch.softmax(model.t5(**encoded).logits[:, 0], dim=-1)[0, 1].item())
    assert supported(open_folder(folder=str(folder))) == pytest.approx(own, abs=CLOSE)
    assert max(own) - min(own) > 0.01


def test_onnxruntime_gives_the_numbers_of_hhem_under_torch(tmp_path: Path) -> None:
    folder = save_checker("hhem", tmp_path)
    numbers = supported(open_folder(folder=str(folder)))
    model = Hhem.with_weights(folder)
    ids = torch.ones((2, 7), dtype=torch.int64)
    write: Callable[..., object] = torch.onnx.export
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the older exporter says that it is older
        write(
            model.t5,
            kwargs={"input_ids": ids, "attention_mask": ids},
            f=str(folder / "model.onnx"),
            input_names=["input_ids", "attention_mask"],
            output_names=["logits"],
            dynamic_axes={
                name: {0: "pairs", 1: "tokens"}
                for name in ("input_ids", "attention_mask", "logits")
            },
            opset_version=17,
            dynamo=False,
        )
    (folder / "model.safetensors").unlink()
    checker = open_folder(folder=str(folder))
    assert checker.signature.startswith("onnx|")
    assert supported(checker) == pytest.approx(numbers, abs=CLOSE)


@pytest.mark.parametrize("head", ["", "tri", "bin", "reg"])
def test_alignscores_heads_answer_in_their_authors_way(head: str, tmp_path: Path) -> None:
    folder = save_checker("alignscore", tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AlignScore(RobertaConfig.from_pretrained(folder)).eval()
    weights = load_file(folder / "model.safetensors")
    weights["reg_layer.weight"] /= 10
    weights["reg_layer.bias"].fill_(0.5)  # so that no number lies outside of 0 to 1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    model.load_state_dict(weights)
    ways: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "tri": lambda pooled: torch.softmax(model.tri_layer(pooled), dim=-1)[0, 0],
        "bin": lambda pooled: torch.softmax(model.bin_layer(pooled), dim=-1)[0, 1],
        "reg": lambda pooled: model.reg_layer(pooled)[0, 0],
    }
    own = np.zeros((len(TEXTS), len(CLAIMS)))
    for index, pair in enumerate(PAIRS):
        encoded = tokenizer(*pair, truncation="only_first", max_length=190, return_tensors="pt")
        with torch.inference_mode():
            pooled = model.base_model(**encoded).pooler_output
            own.flat[index] = ways[head or "tri"](pooled).item()
    checker = open_folder(folder=str(folder), answers=head)
    assert 0 < own.min() < own.max() - 0.01 < 1
    assert supported(checker) == pytest.approx(own.ravel(), abs=CLOSE)


def test_a_number_of_alignscore_outside_of_0_to_1_is_the_nearest_probability(
    tmp_path: Path,
) -> None:
    folder = save_checker("alignscore", tmp_path)
    for bias, nearest in ((-40.0, 0.0), (40.0, 1.0)):
        weights = load_file(folder / "model.safetensors")
        weights["reg_layer.bias"].fill_(bias)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        checker = open_folder(folder=str(folder), answers="reg")
        assert supported(checker) == pytest.approx([nearest] * len(PAIRS), abs=CLOSE)


def test_a_certain_number_of_alignscore_is_finite_in_half_precision(tmp_path: Path) -> None:
    folder = save_checker("alignscore", tmp_path)
    weights = load_file(folder / "model.safetensors")
    weights["reg_layer.bias"].fill_(40.0)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    model = TorchModel(read_checker_card(folder, answers="reg"), device="cpu", is_half=True)
    ids = np.ones((1, 4), dtype=np.int64)
    assert np.isfinite(model.logits(ids, ids, 0 * ids)).all()


def test_alignscores_heads_have_signatures_and_names_of_their_own(tmp_path: Path) -> None:
    folder = save_checker("alignscore", tmp_path)
    heads = ("tri", "bin", "reg")
    assert len({open_folder(folder=str(folder), answers=head).signature for head in heads}) == 3
    with pytest.raises(ConfigError, match="answers=0/1: AlignScore's heads are tri, bin, reg"):
        open_folder(folder=str(folder), answers="0/1")


@pytest.mark.parametrize("subtracts", [False, True])
async def test_pairs_of_sentences_are_pooled_as_in_summac_without_training(
    subtracts: bool, tmp_path: Path
) -> None:
    folder = save_checker("bert", tmp_path, labels=NLI)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    source = [*TEXTS[:2], *(f"{text}." for text in TEXTS[2].rstrip(".").split(". "))]
    image = np.array(
        [
            [shares(model, tokenizer, ClaimPair(sentence, claim)).tolist() for claim in CLAIMS]
            for sentence in source
        ]
    ).max(axis=0)
    score = (image[:, 0] - image[:, 2]).mean() if subtracts else image[:, 0].mean()
    judge = CheckerJudge(
        checker=open_folder(folder=str(folder)),
        pool="mean",
        passages=0,
        passage_sentences=1,
        subtract_contradiction=subtracts,
    )
    report = await judge.assess(SEGMENT, ASPECT)
    probability = (1 - score) / 2 if subtracts else 1 - score
    assert report.error_probability == pytest.approx(probability, abs=CLOSE)


def test_words_of_a_claim_are_as_wrong_as_lettucedetect_says(tmp_path: Path) -> None:
    folder = save_checker("modernbert", tmp_path)
    package = importlib.import_module("lettucedetect.models.inference")
    detector = package.HallucinationDetector(
        method="transformer", model_path=str(folder), device="cpu", max_length=192
    )
    answers = open_folder(folder=str(folder)).check(PAIRS)
    for (passage, claim), answer in zip(PAIRS, answers, strict=True):
        tokens = detector.predict_prompt(passage, claim, output_format="tokens")
        assert 1 - answer.supported == pytest.approx(max(t["prob"] for t in tokens), abs=CLOSE)
        spans = detector.predict_prompt(passage, claim, output_format="spans")
        # A word is marked as a whole if one of its tokens is.
        marked = [word for word in answer.words if word.supported < 0.5]
        assert marked == [
            word
            for word in answer.words
            if any(span["start"] < word.end and word.start < span["end"] for span in spans)
        ]
        assert spans


def test_half_precision_changes_the_signature_and_hardly_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(save_checker("deberta", tmp_path, labels=NLI))
    usual = open_folder(folder=folder, device="auto")
    library = importlib.import_module("spanjury.adapters.checkers.torch_model")
    monkeypatch.setattr(library, "has_half_precision", lambda: True)
    half = open_folder(folder=folder, device="auto")
    assert half.signature == f"{usual.signature}|floats:bfloat16"
    assert open_folder(folder=folder).signature == usual.signature
    assert supported(half) == pytest.approx(supported(usual), abs=0.1)


def change(folder: Path, **values: object) -> None:
    file = folder / "config.json"
    config = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**config, **values}), encoding="utf-8")


def without(*names: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        file = folder / "model.safetensors"
        weights = load_file(file)
        kept = {name: weight for name, weight in weights.items() if not name.startswith(names)}
        assert len(kept) < len(weights)
        save_file(kept, file)

    return damage


def renamed(folder: Path) -> None:
    change(folder, id2label={"0": "odd", "1": "even"})


def wordless(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "AlignScore-base.ckpt")


def summarizing(folder: Path) -> None:
    BartConfig(architectures=["BartForConditionalGeneration"]).save_pretrained(folder)


def coded(folder: Path) -> None:
    change(folder, auto_map={"AutoModel": "modeling.Model"})


def squeezed(folder: Path) -> None:
    file = folder / "model.safetensors"
    weights = load_file(file)
    save_file({**weights, "tri_layer.weight": torch.zeros(2, 16)}, file)


def graphed(folder: Path) -> None:
    (folder / "model.onnx").touch()


@pytest.mark.parametrize(
    ("kind", "damage", "message"),
    [
        ("hhem", renamed, "which class means 'supported' (0 odd, 1 even)"),
        ("hhem", wordless, "copy that of google/flan-t5-base"),
        ("hhem", without("t5.classifier."), "its weights have no 't5.classifier'"),
        ("hhem", without("t5.transformer.encoder.block.1.layer.1"), "its weights lack"),
        ("hhem", without("t5.transformer.shared"), "its weights lack"),
        ("alignscore", without("tri_layer."), "its weights have no 'tri_layer'"),
        ("alignscore", without("base_model.pooler"), "its weights lack"),
        ("alignscore", pickled, "as a pickle (AlignScore-base.ckpt)"),
        ("alignscore", coded, "auto_map"),
        ("alignscore", squeezed, "size mismatch for tri_layer.weight"),
        ("t5", without("decoder."), "its weights have no 'decoder'"),
        ("t5", summarizing, "only those of T5 are checkers"),
        ("t5", coded, "auto_map"),
        ("t5", graphed, "is run by torch"),
    ],
)
def test_a_folder_that_is_no_whole_checker_is_refused_in_one_line(
    kind: str, damage: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    folder = save_checker(kind, tmp_path)
    damage(folder)
    with pytest.raises((ConfigError, JudgeError)) as refusal:
        open_folder(folder=str(folder)).check(PAIRS[:1])
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("kind", "answers", "message"),
    [
        ("t5", "library/books", "does not answer with library or books"),
        ("t5", "library books/library", "does not tell apart"),
        ("t5", "0", "got '0'"),
        ("hhem", "0/1", "leave out answers"),
    ],
)
def test_unclear_answers_are_refused(kind: str, answers: str, message: str, tmp_path: Path) -> None:
    folder = save_checker(kind, tmp_path)
    with pytest.raises((ConfigError, JudgeError), match=message):
        open_folder(folder=str(folder), answers=answers).check(PAIRS[:1])


def test_an_encoder_decoder_that_writes_other_texts_is_refused(tmp_path: Path) -> None:
    folder = save_checker("t5", tmp_path)
    file = folder / "model.safetensors"
    weights = load_file(file)
    save_file({**weights, "lm_head.weight": weights["shared.weight"] * 0}, file)
    with pytest.raises(JudgeError, match=r"does not answer with 0 or 1 \(probability 0\.0"):
        open_folder(folder=str(folder)).check(PAIRS[:1])
