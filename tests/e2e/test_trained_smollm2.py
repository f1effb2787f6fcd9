"""A real model is trained a little, written whole, read again, and asked."""

from dataclasses import replace
from pathlib import Path

import pytest
from fakes.tiny_chat import tiny_pairs
from fakes.training_run import job

from spanjury.adapters.causal.base import EMBEDDED
from spanjury.adapters.models.local_model import open_local
from spanjury.adapters.training.job import TrainingOptions
from spanjury.adapters.training.training import train
from spanjury.judges.core import ChatRequest, Decoding, Finish, ModelOptions

pytestmark = [pytest.mark.asyncio_only, pytest.mark.e2e]


PAIR = tiny_pairs()[3]
OPTIONS = TrainingOptions(
    learning_rate=2e-3, batch_size=1, micro_batch_size=1, epochs=12, max_length=96
)


async def test_smollm2_repeats_what_it_was_trained_on_once_it_is_read_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    short_job = replace(job(EMBEDDED, tmp_path), pairs=[PAIR], validation=[], options=OPTIONS)
    assert train(short_job, tell=lambda *_: None, stopped=lambda: False).finished
    decoding = Decoding(temperature=0.0, max_tokens=60)
    async with open_local(f"local/{tmp_path}", options=ModelOptions()) as model:
        reply = await model.complete(ChatRequest(messages=PAIR.messages, decoding=decoding))
    assert (reply.text, reply.finish) == (PAIR.target, Finish.STOP)
    assert capfd.readouterr() == ("", "")  # no bar, no word of what was loaded
