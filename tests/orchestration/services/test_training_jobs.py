"""Training sets become jobs: which replies they teach, and what of these weighs less."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.judges import ASPECT, mark
from fakes.sealed_set import write_set
from fakes.training_rows import data_file, text

from spanjury.judges.core import DataError, Report
from spanjury.judges.llm.error_list import render_errors
from spanjury.orchestration.services.training.train import training_job
from spanjury.orchestration.studies.distillation.targets import Targets, rows_of
from spanjury.orchestration.studies.distillation.training_set import Example
from spanjury.orchestration.wiring.training import TrainingJob, TrainingOptions

OUTPUT = "The bridge opened in 1935."
(ROW,) = rows_of([data_file([text("a", "It opened in 1932.", output=OUTPUT)])])
REPORTS = (Report(score=5), Report(score=2, spans=(mark(OUTPUT, "1935", "It was 1932.", 4),)))


def examples() -> Iterator[Example]:
    for report in REPORTS:
        yield replace(Targets().example(ROW, ASPECT, report=report), split="train")


def older() -> Iterator[Example]:
    for example in examples():
        yield replace(example, target=f"{render_errors(example.report.spans)} 75")


def job(folder: Path, *examples: Example) -> TrainingJob:
    data = write_set(folder / "set", train=examples)
    return training_job(data, base="b", folder=folder / "model", options=TrainingOptions())


def test_a_set_of_today_teaches_verdicts_and_light_explanations(tmp_path: Path) -> None:
    found = job(tmp_path, *examples())
    assert found.layout == "verdict-first"
    assert found.verdict is not None
    assert [pair.faulty for pair in found.pairs] == [False, True]
    assert [pair.light for pair in found.pairs] == [0, len("Explanation 1: It was 1932.")]
    for pair in found.pairs:
        word = found.verdict.yes if pair.faulty else found.verdict.no
        assert pair.target.startswith(f"{found.verdict.prefix}{word}\n")


def test_a_set_of_an_earlier_version_teaches_what_it_did(tmp_path: Path) -> None:
    found = job(tmp_path, *older())
    assert (found.layout, found.verdict) == ("score-last", None)
    assert [(pair.faulty, pair.light) for pair in found.pairs] == [(None, 0)] * 2


def test_replies_of_two_layouts_are_no_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="two layouts: score-last and verdict-first"):
        job(tmp_path, *examples(), *older())
