"""The card of a trained model."""

from pathlib import Path

import pytest

from spanjury.adapters.training.card import CARD, write_card
from spanjury.adapters.training.job import DataStatistics, Progress


def test_a_folder_named_as_a_package_does_not_cost_the_trained_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xformers").mkdir()  # as a checkout in the folder of ``python -m spanjury``
    monkeypatch.syspath_prepend(tmp_path)
    write_card(
        tmp_path,
        front=["# Model"],
        data=DataStatistics(source="tiny", digest="0"),
        rows=[("training", 4)],
        device="cpu",
        options={},
        progress=Progress(micro_batch_size=1),
    )
    card = (tmp_path / CARD).read_text()
    assert "| torch |" in card
    assert "xformers" not in card
