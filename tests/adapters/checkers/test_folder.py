"""Checkers in folders: their numbers beside those of the authors' own way to call each model."""

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from fakes.tiny_checkers import NLI, TEXTS, save_checker
from transformers import (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    BertForSequenceClassification,
    BertModel,
)

from spanjury.adapters.checkers.folder import FolderChecker, open_folder
from spanjury.judges.core import ClaimPair, ConfigError, JudgeError

CLAIMS = (
    "The library will close in May.",
    "Mary Evans built it in 1932.",
    "The roof costs ten million euros, and no one pays for it.",
)
PAIRS = [ClaimPair(passage, claim) for passage in TEXTS for claim in CLAIMS]
QUESTION = "Text: {passage}\nIs it right that {claim}?\nAnswers: Yes, No"
CLOSE = 1e-5


def loaded(folder: Path, kind: Any) -> tuple[Any, Any]:  # noqa: ANN401 - classes of transformers
    return AutoTokenizer.from_pretrained(folder), kind.from_pretrained(folder).eval()


def shares(model: Any, encoded: Any) -> torch.Tensor:  # noqa: ANN401 - a model, what it takes
    with torch.inference_mode():
        return torch.softmax(model(**encoded).logits[0], dim=-1)


def supported(checker: FolderChecker) -> list[float]:
    return [answer.supported for answer in checker.check(PAIRS)]


@pytest.mark.parametrize("kind", ["roberta", "deberta"])
def test_two_classes_of_a_joined_text_are_those_of_minichecks_own_way(
    kind: str, tmp_path: Path
) -> None:
    folder = save_checker(kind, tmp_path)
    tokenizer, model = loaded(folder, AutoModelForSequenceClassification)
    own = [
        shares(model, tokenizer(tokenizer.eos_token.join(pair), return_tensors="pt"))[1].item()
        for pair in PAIRS
    ]
    checker = open_folder(folder=str(folder), form="joined", supported=1)
    assert supported(checker) == pytest.approx(own, abs=CLOSE)
    assert max(own) - min(own) > 0.01
    assert checker.unit == "sentence"


def test_two_classes_of_a_template_are_those_of_factcgs_own_way(tmp_path: Path) -> None:
    folder = save_checker("deberta", tmp_path / "model", labels={0: "refuted", 1: "Supported"})
    (tmp_path / "question.txt").write_text(QUESTION, encoding="utf-8")
    tokenizer, model = loaded(folder, AutoModelForSequenceClassification)
    own = [
        shares(model, tokenizer(QUESTION.format(passage=text, claim=claim), return_tensors="pt"))[
            1
        ].item()
        for text, claim in PAIRS
    ]
    checker = open_folder(folder=str(folder), template=str(tmp_path / "question.txt"))
    assert supported(checker) == pytest.approx(own, abs=CLOSE)
    assert "form:template" in checker.signature


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta"])
@pytest.mark.parametrize("first", [0, 2])
def test_three_classes_of_a_pair_are_recognised_by_their_names(
    kind: str, first: int, tmp_path: Path
) -> None:
    order = NLI if first == 0 else {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    folder = save_checker(kind, tmp_path, labels=order)
    tokenizer, model = loaded(folder, AutoModelForSequenceClassification)
    own = [shares(model, tokenizer(*pair, return_tensors="pt")) for pair in PAIRS]
    answers = open_folder(folder=str(folder)).check(PAIRS)
    assert [answer.supported for answer in answers] == pytest.approx(
        [row[first].item() for row in own], abs=CLOSE
    )
    assert [answer.contradicted for answer in answers] == pytest.approx(
        [row[2 - first].item() for row in own], abs=CLOSE
    )


def test_words_of_a_claim_are_as_wrong_as_lettucedetects_tokens_in_them(tmp_path: Path) -> None:
    folder = save_checker("modernbert", tmp_path)
    tokenizer, model = loaded(folder, AutoModelForTokenClassification)
    checker = open_folder(folder=str(folder))
    assert checker.unit == "text"
    for pair, answer in zip(PAIRS, checker.check(PAIRS), strict=True):
        encoded = tokenizer(
            *pair, truncation="only_first", return_tensors="pt", return_offsets_mapping=True
        )
        offsets, sequences = encoded.pop("offset_mapping")[0].tolist(), encoded.sequence_ids(0)
        wrong = shares(model, encoded)[:, 1].tolist()
        of_claim = [
            (start, end, probability)
            for (start, end), number, probability in zip(offsets, sequences, wrong, strict=True)
            if number == 1
        ]
        assert len(answer.words) > 4
        for word in answer.words:
            inside = [p for start, end, p in of_claim if start < word.end and word.start < end]
            assert 1 - word.supported == pytest.approx(max(inside), abs=CLOSE)
        assert 1 - answer.supported == pytest.approx(max(p for *_, p in of_claim), abs=CLOSE)


def test_the_end_of_a_passage_without_room_is_left_out(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path, labels=NLI)
    tokenizer, model = loaded(folder, AutoModelForSequenceClassification)
    pair = ClaimPair(" ".join(TEXTS), CLAIMS[0])
    encoded = tokenizer(*pair, truncation="only_first", max_length=60, return_tensors="pt")
    checker = open_folder(folder=str(folder), max_length=60)
    own = shares(model, encoded)[0].item()
    assert checker.check([pair])[0].supported == pytest.approx(own, abs=CLOSE)
    assert checker.room() == 57
    assert checker.count_tokens([CLAIMS[0]]) == [len(tokenizer(CLAIMS[0])["input_ids"]) - 2]


def test_a_model_of_relative_positions_reads_more_than_its_configuration_says(
    tmp_path: Path,
) -> None:
    folder = save_checker("deberta", tmp_path / "relative", positions=64)
    tokenizer, model = loaded(folder, AutoModelForSequenceClassification)
    text = tokenizer.eos_token.join(PAIRS[5])
    encoded = tokenizer(text, truncation=True, max_length=128, return_tensors="pt")
    assert 64 < encoded["input_ids"].shape[1] < 128
    checker = open_folder(folder=str(folder), form="joined", supported=1, max_length=128)
    own = shares(model, encoded)[1].item()
    assert checker.check([PAIRS[5]])[0].supported == pytest.approx(own, abs=CLOSE)
    absolute = save_checker("bert", tmp_path / "absolute", labels=NLI)
    with pytest.raises(ConfigError, match="has room for 192 tokens"):
        open_folder(folder=str(absolute), max_length=193)


def test_a_claim_without_room_is_an_error(tmp_path: Path) -> None:
    checker = open_folder(folder=str(save_checker("bert", tmp_path, labels=NLI)), max_length=12)
    with pytest.raises(JudgeError, match="has no room in 12 tokens"):
        checker.check([PAIRS[2]])


@pytest.mark.parametrize("kind", ["roberta", "deberta", "modernbert", "bert"])
def test_no_pair_changes_the_answer_on_another(kind: str, tmp_path: Path) -> None:
    labels = None if kind == "modernbert" else NLI
    checker = open_folder(folder=str(save_checker(kind, tmp_path, labels=labels)))
    apart = [checker.check([pair])[0].supported for pair in PAIRS]
    assert supported(checker) == pytest.approx(apart, abs=CLOSE)


@pytest.mark.parametrize(("kind", "mark"), [("roberta", "</s>"), ("bert", "[SEP]")])
def test_a_special_token_in_a_claim_is_plain_text(kind: str, mark: str, tmp_path: Path) -> None:
    checker = open_folder(folder=str(save_checker(kind, tmp_path, labels=NLI)))
    plain, forged = checker.count_tokens(["roof", f"roof {mark}"])
    assert forged > plain + 1


def test_onnxruntime_gives_the_numbers_of_torch(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path / "model", labels=NLI)
    before = open_folder(folder=str(folder))
    numbers = supported(before)
    write_graph(folder)
    (folder / "model.safetensors").unlink()
    after = open_folder(folder=str(folder))
    assert after.signature.startswith("onnx|model:model@")
    assert supported(after) == pytest.approx(numbers, abs=CLOSE)
    assert after.signature != before.signature


def test_onnxruntime_needs_no_torch(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path / "model", labels=NLI)
    write_graph(folder)
    program = (
        "import sys; from spanjury.adapters.checkers.folder import open_folder; "
        f"checker = open_folder(folder={str(folder)!r}); "
        "print(checker.check([('It rains.', 'It rains.')])[0].supported); "
        "assert not {'torch', 'transformers'} & sys.modules.keys()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 1


def write_graph(folder: Path) -> None:
    _, model = loaded(folder, BertForSequenceClassification)
    names = ("input_ids", "attention_mask", "token_type_ids")
    ids = torch.ones((2, 7), dtype=torch.int64)
    write: Callable[..., object] = torch.onnx.export
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the older exporter says that it is older
        write(
            model,
            kwargs=dict.fromkeys(names, ids),
            f=str(folder / "model.onnx"),
            input_names=list(names),
            output_names=["logits"],
            dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names}
            | {"logits": {0: "pairs"}},
            opset_version=17,
            dynamo=False,
        )


def test_weights_in_several_files_are_read_and_their_head_is_looked_for(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path, labels=NLI)
    numbers = supported(open_folder(folder=str(folder)))
    _, model = loaded(folder, BertForSequenceClassification)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="10KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    assert supported(open_folder(folder=str(folder))) == numbers
    index = folder / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"bert.pooler.dense.bias": "x"}}', encoding="utf-8")
    with pytest.raises(ConfigError, match="without the head"):
        open_folder(folder=str(folder))


@pytest.mark.parametrize("name", ["tokenizer_config.json", "special_tokens_map.json"])
def test_an_end_mark_is_read_where_older_tokenizers_write_it(name: str, tmp_path: Path) -> None:
    folder = save_checker("roberta", tmp_path)
    numbers = supported(open_folder(folder=str(folder), form="joined", supported=1))
    file = folder / "tokenizer_config.json"
    settings = json.loads(file.read_text("utf-8"))
    mark = {"__type": "AddedToken", "content": settings.pop("eos_token"), "special": True}
    settings.pop("sep_token")
    file.write_text(json.dumps(settings), encoding="utf-8")
    older = {**settings, "eos_token": mark} if name == file.name else {"eos_token": mark}
    (folder / name).write_text(json.dumps(older), encoding="utf-8")
    assert supported(open_folder(folder=str(folder), form="joined", supported=1)) == numbers


def change(folder: Path, **values: object) -> None:
    file = folder / "config.json"
    config = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**config, **values}), encoding="utf-8")


def renamed(folder: Path) -> None:
    change(folder, id2label={"0": "good", "1": "odd", "2": "bad"})


def unnamed(folder: Path) -> None:
    change(folder, id2label={"0": "LABEL_0", "1": "LABEL_1"})


def crowded(folder: Path) -> None:
    change(folder, id2label={str(number): f"star_{number}" for number in range(5)})


def headless(folder: Path) -> None:
    model = BertForSequenceClassification.from_pretrained(folder)
    encoder = model.bert
    assert isinstance(encoder, BertModel)
    encoder.save_pretrained(folder)
    change(folder, architectures=["BertForSequenceClassification"])


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def coded(folder: Path) -> None:
    change(folder, auto_map={"AutoModel": "modeling.Model"})


def wordless(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def weightless(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def causal(folder: Path) -> None:
    change(folder, architectures=["LlamaForCausalLM"])


def without_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def spoilt(folder: Path) -> None:
    (folder / "config.json").write_text("{", encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (renamed, "does not tell which class means 'supported' (0 good, 1 odd, 2 bad)"),
        (unnamed, "name it by supported=NUMBER"),
        (crowded, "expected 2 or 3 classes"),
        (headless, "without the head of a checker"),
        (pickled, "pytorch_model.bin"),
        (coded, "auto_map"),
        (wordless, "has no tokenizer"),
        (weightless, "has no weights"),
        (causal, "the architecture here is LlamaForCausalLM"),
        (without_config, "config.json is missing"),
        (spoilt, "is not JSON"),
    ],
)
def test_a_folder_that_cannot_be_read_safely_is_refused_in_one_line(
    damage: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    folder = save_checker("bert", tmp_path, labels=NLI)
    damage(folder)
    with pytest.raises(ConfigError) as refusal:
        open_folder(folder=str(folder))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_class_that_means_supported_can_be_named(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path, labels=NLI)
    with pytest.raises(ConfigError, match="names the class of contradictions"):
        open_folder(folder=str(folder), supported="contradiction")
    usual = supported(open_folder(folder=str(folder)))
    renamed(folder)
    assert supported(open_folder(folder=str(folder), supported=0)) == usual
    assert supported(open_folder(folder=str(folder), supported="good")) == usual
    with pytest.raises(ConfigError, match="supported=3 is not a class"):
        open_folder(folder=str(folder), supported=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "joined"}, "names none"),
        ({"form": "template"}, "go together"),
        ({"template": "no-such-file"}, "cannot be read"),
        ({"device": "abacus"}, "abacus"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = save_checker("bert", tmp_path, labels=NLI)
    file = folder / "tokenizer_config.json"
    settings = json.loads(file.read_text("utf-8"))
    settings.pop("sep_token")
    file.write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises((ConfigError, JudgeError), match=message):
        open_folder(folder=str(folder), **options).check(PAIRS)


def test_classifiers_of_tokens_take_pairs_only(tmp_path: Path) -> None:
    folder = save_checker("modernbert", tmp_path)
    with pytest.raises(ConfigError, match="reads pairs only"):
        open_folder(folder=str(folder), form="joined")


def test_without_a_folder_it_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match="checker:FOLDER"):
        open_folder()
