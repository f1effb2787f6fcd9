"""The guideline for annotators: every severity has an example, every aspect its meaning."""

import pytest

from spanjury.judges.core import ConfigError
from spanjury.judges.tasks.catalogue import Catalogue
from spanjury.judges.tasks.rubric import Rubric
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.services.people.marks.guideline import guideline

TASKS = Catalogue.load()


def test_every_severity_that_judges_know_has_an_example() -> None:
    report = guideline([TASKS.aspect("summarization", "consistency")])
    severities = tables_of(report)["Severity of an error"].to_dicts()
    assert [row["severity"] for row in severities] == ["1", "2", "3", "4", "5"]
    assert severities[0]["meaning"] == "a reader would hardly notice"
    assert all(all(row.values()) for row in severities)


def test_every_aspect_of_every_task_is_explained() -> None:
    for task in TASKS.tasks():
        aspects = TASKS.aspects(task.name)
        page = report_markdown(guideline(aspects))
        for aspect in aspects:
            assert f"## {aspect.spoken.capitalize()}" in page
            for sentence in (aspect.worst, aspect.best, *aspect.confusable):
                assert " ".join(sentence.split()) in page.replace("\\", "")


def test_the_criteria_of_a_rubric_stand_in_its_place() -> None:
    rubric = Rubric.of({"name": "shop", "criteria": [{"text": "Every price is in euros"}]})
    aspect = TASKS.with_rubric(rubric).aspect("summarization", rubric.aspect)
    tables = tables_of(guideline([aspect]))
    assert list(tables)[1:] == ['"Every price is in euros"']


def test_a_guideline_needs_an_aspect() -> None:
    with pytest.raises(ConfigError, match="needs an aspect"):
        guideline([])
