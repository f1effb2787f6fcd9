"""The offline judges agree with people, on data sets that lie beside the checkout."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import spearmanr

from spanjury.judges.core import Aspect, Report, Task
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.judges.rules.source_index import join_inputs

TASK = Task(name="summarization", description="Summarize the article.")
CONSISTENCY = Aspect(name="consistency", task=TASK, definition="…", kind="grounding")
FLUENCY = Aspect(name="fluency", task=TASK, definition="…", kind="form", inputs=())

pytestmark = pytest.mark.shared_data


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def rho(reports: Sequence[Report], human: Sequence[float]) -> float:
    scores = [report.score for report in reports if report.score is not None]
    assert len(scores) == len(reports)
    return float(spearmanr(scores, human).statistic)


@pytest.mark.heavy
def test_grounding_agrees_with_people_on_both_halves_of_qags(shared_data: Path) -> None:
    read = rows(shared_data / "judgements" / "qags_four_judges.jsonl.gz")
    reports = [
        GroundingJudge()._compare(row["output"], join_inputs(row["input"]), aspect=CONSISTENCY)
        for row in read
    ]
    human = [row["human"] for row in read]
    assert rho(reports[:235], human[:235]) >= 0.63
    assert rho(reports[235:], human[235:]) >= 0.34


@pytest.mark.heavy
def test_form_agrees_with_people_on_fluency(shared_data: Path) -> None:
    read = rows(shared_data / "scores" / "summeval_scores.jsonl.gz")
    reports = [FormJudge()._check(row["output"], aspect=FLUENCY) for row in read]
    assert rho(reports, [row["scores"]["fluency"] for row in read]) > 0.1


def test_references_written_by_people_have_few_errors_of_form(shared_data: Path) -> None:
    read = rows(shared_data / "scores" / "summeval_docs.jsonl.gz")
    references = [text for row in read for text in row["references"]]
    spans = [span for text in references for span in FormJudge()._check(text, aspect=FLUENCY).spans]
    grave = [span for span in spans if (span.severity or 0) > 1]
    assert len(grave) < 0.07 * len(references)
