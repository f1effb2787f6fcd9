"""A guardian's adapter: packed texts are read as single ones are, and the file is llama.cpp's."""

from pathlib import Path

import gguf
import pytest
import torch

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
    return answers[:, 1] - answers[:, 0]


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


def test_a_guardian_and_no_other_checker_has_a_question() -> None:
    with pytest.raises(ValueError, match="asked a question"):
        CheckerForm(head="guardian")
    with pytest.raises(ValueError, match="asked a question"):
        CheckerForm(head="pair", question=QUESTION)
