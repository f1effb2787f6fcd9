"""The recorded judges of QAGS as results: their figures by the study of seats are those known."""

import importlib
from pathlib import Path

import pytest

from spanjury.orchestration.services.people.marked_texts import MarkedSource
from spanjury.orchestration.services.people.panel_study import study_panel
from spanjury.orchestration.studies.panel_study.agreement import Settings

ROOT = Path(__file__).parents[1]


@pytest.mark.shared_data
def test_one_to_four_judges_agree_with_people_as_known(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    recorded = importlib.import_module("benchmarks.recorded_judges")
    recorded.write_recorded(tmp_path, data=shared_data, offline=False)
    source = MarkedSource(results=(tmp_path / "results.jsonl",), human=tmp_path / "texts.jsonl")
    (study,) = study_panel(source, within="corpus", settings=Settings(draws=0)).aspects
    assert study.seats == ("gemma", "nemotron", "qwen", "mistral")
    assert [*study.families.values()] == ["google", "llama", "qwen", "mistral"]
    assert study.groups == ("CNN/DM", "XSum")
    means = [part.mean for part in study.subsets.sizes]
    assert means == pytest.approx([0.622, 0.659, 0.670, 0.676], abs=5e-4)
    assert sum(part.shapley for part in study.subsets.shares) == pytest.approx(means[-1])
