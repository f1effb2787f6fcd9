"""A guardian's adapter: packed texts are read as single ones are, and the file is llama.cpp's."""

import json
from pathlib import Path

import gguf
import pytest
import torch
from fakes.tiny_chat import save_chat_model

from spanjury.adapters.causal.base import EMBEDDED
from spanjury.adapters.training.tokens.encoding import stacked
from spanjury.adapters.training.tokens.guardian import (
    ADAPTER,
    GuardianBase,
    GuardianModel,
    find_guardian_base,
)
from spanjury.adapters.training.tokens.job import CheckerForm, Question
from spanjury.adapters.training.trainer import fixed_seed
from spanjury.judges.core import ClaimPair, ConfigError, Label, LabelledPair

pytestmark = pytest.mark.heavy

CPU = torch.device("cpu")
QUESTION = Question("Be careful.", "Document:\n$document\n\nStatement: $claim", "True", "False")
NEAR = 0.05  # log odds from states in bfloat16
PAIRS = [
    LabelledPair(pair=ClaimPair(passage, claim), label=label, spans=None, group=passage)
    for passage, claim, label in (
        ("The mill closed in May.", "The mill closed in May.", Label.SUPPORTED),
        ("The mill closed in May.", "The mill closed in June.", Label.CONTRADICTED),
        ("Trains to Lyon leave at nine.", "They leave at ten.", Label.ERROR),
    )
]


@pytest.fixture(scope="module")
def base() -> GuardianBase:
    return find_guardian_base(EMBEDDED, QUESTION, max_length=80)


@pytest.fixture(scope="module")
def model(base: GuardianBase) -> GuardianModel:
    with fixed_seed(3, device=CPU):
        made = base.load(kinds=0, device=CPU)
        for name, weight in made.named_parameters():
            if name.endswith(".up"):
                torch.nn.init.normal_(weight, std=0.1)
    return made.eval()


def log_odds(base: GuardianBase, model: GuardianModel, pairs: list[LabelledPair]) -> torch.Tensor:
    batch = stacked(base.encode(pairs, limit=80), device=CPU)
    with torch.inference_mode():
        tokens, answers = model(batch.ids, batch.mask, batch.kinds)
    assert tokens is None
    assert answers.shape == (len(pairs), 2)
    odds: torch.Tensor = answers[:, 1] - answers[:, 0]
    return odds


def test_a_claim_is_read_alone_as_beside_others_of_its_passage(
    base: GuardianBase, model: GuardianModel
) -> None:
    together = log_odds(base, model, PAIRS)
    alone = torch.cat([log_odds(base, model, [pair]) for pair in PAIRS])
    torch.testing.assert_close(together, alone, atol=NEAR, rtol=0.0)
    assert together.max() - together.min() > 2 * NEAR


def test_only_the_matrices_of_the_upper_layers_are_trained(model: GuardianModel) -> None:
    trained = [name for name, weight in model.named_parameters() if weight.requires_grad]
    layers = {int(name.split(".layers.")[1].split(".")[0]) for name in trained}
    assert layers == set(range(15, 30))
    assert all(name.endswith((".up", ".down")) for name in trained)


def test_the_adapter_names_each_matrix_as_llama_cpp_does(
    base: GuardianBase, model: GuardianModel, tmp_path: Path
) -> None:
    base.write(model, tmp_path, max_length=80)
    read = gguf.GGUFReader(tmp_path / ADAPTER)
    shapes = {tensor.name: tuple(map(int, tensor.shape)) for tensor in read.tensors}
    assert len(shapes) == 15 * 7 * 2
    assert shapes["blk.15.ffn_down.weight.lora_a"] == (1536, 8)  # ggml's order: inputs first
    assert shapes["blk.15.ffn_down.weight.lora_b"] == (8, 576)
    assert read.fields["adapter.type"].contents() == "lora"


def test_the_rows_of_a_matrix_are_in_the_order_of_the_base_s_file(
    base: GuardianBase, tmp_path: Path
) -> None:
    model = base.load(kinds=0, device=CPU)
    parts = dict(model.named_parameters())
    stored = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output"}
    for name in stored:  # the first columns of the base's own weights
        part = f"model.model.layers.20.self_attn.{name}"
        parts[f"{part}.up"].data = parts[f"{part}.projection.weight"][:, :8].float().clone()
    base.write(model, tmp_path, max_length=80)
    adapter, file = (
        {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
        for path in (tmp_path / ADAPTER, base.base.folder / base.base.gguf)
    )
    for name in stored.values():
        weights = file[f"blk.20.{name}.weight"]
        first = gguf.dequantize(weights.data, weights.tensor_type)[:, :8]
        rows = adapter[f"blk.20.{name}.weight.lora_b"].data
        assert rows == pytest.approx(first, rel=0.01, abs=1e-4), name


def test_a_base_of_another_architecture_is_refused(tmp_path: Path) -> None:
    config = Path(save_chat_model(tmp_path)) / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_type": "mistral"}))
    one_token = QUESTION._replace(right="t", wrong="f")
    other = find_guardian_base(str(tmp_path), one_token, max_length=80)
    with pytest.raises(ConfigError, match="architecture 'mistral'; a guardian's adapter is for"):
        other.load(kinds=0, device=CPU)


def test_a_long_passage_loses_its_end_and_the_claim_stays_whole(base: GuardianBase) -> None:
    long = PAIRS[0].pair._replace(passage="The mill closed in May. " * 40)
    (encoded,) = base.encode(
        [LabelledPair(pair=long, label=Label.SUPPORTED, spans=None, group="a")], limit=80
    )
    assert len(encoded.ids) == 80
    (short,) = base.encode(PAIRS[:1], limit=80)
    ending = short.kinds.count(1)
    assert encoded.ids[-ending:] == short.ids[-ending:]


def test_an_answer_of_several_tokens_is_refused() -> None:
    asked = QUESTION._replace(right="Undoubtedly supported")
    with pytest.raises(ConfigError, match="several tokens for one answer"):
        find_guardian_base(EMBEDDED, asked, max_length=None).load(kinds=0, device=CPU)


def test_a_length_without_room_for_a_claim_is_refused() -> None:
    with pytest.raises(ConfigError, match="--max-length 20: the question alone has [0-9]+ tokens"):
        find_guardian_base(EMBEDDED, QUESTION, max_length=20)


def test_a_guardian_and_no_other_checker_has_a_question() -> None:
    with pytest.raises(ValueError, match="asked a question"):
        CheckerForm(head="guardian")
    with pytest.raises(ValueError, match="asked a question"):
        CheckerForm(head="pair", question=QUESTION)
