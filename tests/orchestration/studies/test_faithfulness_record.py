"""Recorded changes, in every shape, and the figures of the paper made of them.

The golden numbers are those of Table 1 of Terentowicz, Lango, Dušek (2025) to more digits, from
the authors' own labels.
"""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from spanjury.judges.core import DataError, Outcome, RescoringMethod
from spanjury.orchestration.services.exams.faithfulness_record import read_changes, write_changes
from spanjury.orchestration.studies.faithfulness.findings import (
    Average,
    Finding,
    Findings,
    averages,
    findings_of,
)
from spanjury.orchestration.studies.faithfulness.outcomes import CONTROL, Change, ListOutcome

STEPS = ("-1", "+1", "-2", "+2")
REPLY = 'Error 1:\nLocation: "a"\nExplanation: Wrong.\nSeverity: {}\n\nOverall score: {}\n'


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def labels(shared_data: Path) -> Findings:
    return findings_of(read_changes(shared_data / "judgements" / "label_pairs.jsonl.gz"), draws=100)


@pytest.fixture(scope="module")
def replies(shared_data: Path) -> Findings:
    path = shared_data / "judgements" / "qags_explanation_before_after.jsonl.gz"
    return findings_of(read_changes(path), draws=100)


def on_qags(labels: Findings) -> Mapping[tuple[str, str], Finding]:
    return {(one.judge, one.condition): one for one in labels.findings if one.dataset == "qags"}


def on_average(labels: Findings) -> Mapping[tuple[str, str, str], Average]:
    return {(one.dataset, one.judge, one.condition): one for one in averages(labels.findings)}


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("judge", "family", "printed"),
    [
        ("nemo", "severity", (0.121, 0.144, 0.206, 0.206)),
        ("gemma", "severity", (0.137, 0.344, 0.285, 0.603)),
        ("qwen", "severity", (0.270, 0.188, 0.420, 0.285)),
        ("gemma", "both", (0.363, 0.523, 0.561, 0.591)),
    ],
)
def test_the_shares_over_all_reports_are_those_of_the_paper(
    labels: Findings, judge: str, family: str, printed: tuple[float, ...]
) -> None:
    values = [on_qags(labels)[judge, f"{family}{by}"].overall for by in STEPS]
    assert [one.changed_as_printed for one in values] == pytest.approx(printed, abs=6e-4)


@pytest.mark.shared_data
def test_a_critical_error_changes_as_many_scores_as_the_paper_says(labels: Findings) -> None:
    values = on_qags(labels)
    shares = [
        values[judge, "add_critical_error"].overall.changed_as_printed
        for judge in ("nemo", "gemma", "qwen")
    ]
    assert shares == pytest.approx([0.515, 0.475, 0.241], abs=6e-4)
    assert values["nemo", "add_critical_error"].overall.lost == 2
    assert values["nemo", "add_critical_error"].overall.changed == pytest.approx(241 / 470)


@pytest.mark.shared_data
def test_the_shares_over_reports_with_errors_exclude_the_best_score(labels: Findings) -> None:
    values = [on_qags(labels)["nemo", f"severity{by}"].with_errors for by in STEPS]
    shares = [one.changed for one in values]
    assert shares == pytest.approx([0.181, 0.216, 0.308, 0.308], abs=6e-4)
    critical = on_qags(labels)["nemo", "add_critical_error"].with_errors
    assert critical.changed_as_printed == pytest.approx(0.771, abs=6e-4)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("judge", "moved", "reports", "above_the_floor"),
    [("gemma", 47, 427, 7), ("nemo", 6, 315, 3), ("qwen", 68, 299, 46)],
)
def test_scores_that_rise_from_the_floor_after_an_added_error_move_against_it(
    labels: Findings, judge: str, moved: int, reports: int, above_the_floor: int
) -> None:
    values = on_qags(labels)[judge, "add_random_error1"]
    assert (values.with_room_against.rose, values.with_room_against.reports) == (moved, reports)
    assert values.against(values.with_room_against) == pytest.approx(moved / reports)
    assert values.with_room.rose == above_the_floor


@pytest.mark.shared_data
def test_the_average_changes_are_those_of_the_labels(labels: Findings) -> None:
    values = [on_qags(labels)["nemo", f"severity{by}"].overall.average.value for by in STEPS]
    assert values == pytest.approx([0.121, -0.144, 0.203, -0.206], abs=6e-4)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("judge", "printed"),
    [("nemo", (0.134, 0.154, 0.219, 0.281)), ("qwen", (0.180, 0.261, 0.310, 0.508))],
)
def test_the_mean_over_aspects_is_unweighted(
    labels: Findings, judge: str, printed: tuple[float, ...]
) -> None:
    values = on_average(labels)
    shares = [values["summeval", judge, f"severity{by}"].as_printed for by in STEPS]
    assert shares == pytest.approx(printed, abs=6e-4)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("judge", "printed"),
    [
        ("nemotron-70b", (0.25, 0.24, 0.29, 0.29)),
        ("gemma-2-27b", (0.24, 0.14, 0.32, 0.23)),
        ("qwen-2.5-72b", (0.17, 0.06, 0.19, 0.08)),
    ],
)
def test_the_replies_give_the_rows_of_the_table_for_explanations(
    replies: Findings, judge: str, printed: tuple[float, ...]
) -> None:
    values = {(one.judge, one.condition): one.overall for one in replies.findings}
    shares = [round(values[judge, f"explanation{by}"].changed_as_printed, 2) for by in STEPS]
    assert shares == list(printed)


@pytest.mark.shared_data
def test_pairs_that_a_record_lacks_are_counted(labels: Findings) -> None:
    values = [one for one in labels.findings if one.judge == "nemo" and one.aspect == "coherence"]
    assert {one.absent for one in values if one.family == "severity"} == {201}
    mistral = on_qags(labels)["mistral", "add_critical_error"]
    assert (mistral.absent, mistral.overall.reports) == (474, 0)


def test_replies_are_read_as_a_judge_reads_them(tmp_path: Path) -> None:
    values = {
        "id": "t",
        "model": "m",
        "before": REPLY.format(3, "Fair"),
        "after": {"-1": REPLY.format(3, "Good"), "2": None, "1": "I cannot say."},
    }
    bare = {"id": "u", "model": "m", "before": "No Error\n\nOverall score: Excellent"}
    path = write(tmp_path / "qags.jsonl", values, {**bare, "after": {"-1": None}})
    milder, graver, unread, error_free = read_changes(path)
    assert (milder.condition, milder.direction, milder.before, milder.after) == (
        "explanation-1",
        "rises",
        3,
        4,
    )
    assert (milder.dataset, milder.errors, milder.severity_change) == ("qags", 1, -1)
    assert graver.list_outcome is ListOutcome.CLIPPED
    assert (unread.after, unread.outcome) == (None, Outcome.UNPARSEABLE)
    assert error_free.list_outcome is ListOutcome.ERROR_FREE


def test_a_label_that_could_not_be_read_is_lost_and_a_pair_that_is_not_there_is_absent(
    tmp_path: Path,
) -> None:
    head = {"mods": ["severity1", "textsev-2", "add_critical_error", "add_random_error2"]}
    row = {"ds": "d", "asp": "a", "m": "m", "id": "t", "b": [3, 0, 3, 3], "a": [2, 3, 0, None]}
    values = read_changes(write(tmp_path / "labels.jsonl", head, row))
    assert [one.condition for one in values] == [
        "severity+1",
        "explanation-2",
        "add_critical_error",
        "add_random_error2",
    ]
    assert [one.list_outcome for one in values] == [
        ListOutcome.RESCORED,
        ListOutcome.UNSCORED,
        ListOutcome.RESCORED,
        ListOutcome.ABSENT,
    ]
    assert [one.by for one in values] == [1, -2, None, None]
    assert values[2].outcome is Outcome.UNPARSEABLE


def test_an_exam_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    whole = Change(
        judge="j",
        dataset="d",
        aspect="a",
        text="t",
        condition="severity+1",
        family="severity",
        by=1,
        direction="falls",
        before=3,
        after=2.5,
        errors=2,
        errors_after=2,
        severity_change=2,
        expected=2.4,
        method=RescoringMethod.CONTINUED,
        source="s",
    )
    bare = Change(judge="j", dataset="d", aspect="a", text="t", condition=CONTROL, before=3)
    write_changes(tmp_path / "changes.jsonl", [whole, bare])
    assert read_changes(tmp_path / "changes.jsonl") == [whole, bare]


def test_a_record_of_release_0_2_is_read_under_its_own_names(tmp_path: Path) -> None:
    whose = {"judge": "j", "dataset": "d", "aspect": "a", "text": "t", "push": "falls"}
    rows = (
        {**whose, "treatment": "severity+1", "before": 3, "after": 2, "road": "computed"},
        {**whose, "treatment": "explanation+1", "before": 3, "fate": "unwritten"},
    )
    scored, failed = read_changes(write(tmp_path / "changes.jsonl", *rows))
    assert (scored.condition, scored.direction) == ("severity+1", "falls")
    assert scored.method is RescoringMethod.COMPUTED
    assert failed.list_outcome is ListOutcome.FAILED


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("", "nothing in it"),
        ("[]\n", "expected an object"),
        ("{]\n", "no JSON"),
        ('{"format": 9}\n', "format 9"),
        ('{"format": 1, "rows": 0}\n', "no change in it"),
        ('{"format": 1, "rows": 2}\n', "cut short"),
        ('{"judge": "j"}\n', "dataset"),
        ('{"mods": ["shout"]}\n', "'shout' is none of"),
        ('{"mods": [1]}\n', "strings"),
        ('{"mods": ["severity1"]}\n{"ds": 1}\n', ":2: ds"),
        (
            '{"mods": ["severity1"]}\n{"ds":"d","asp":"a","m":"m","id":"t","b":3,"a":[]}\n',
            "expected 1 scores",
        ),
    ],
)
def test_a_record_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, lines: str, problem: str
) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text(lines)
    with pytest.raises(DataError, match=problem):
        read_changes(path)


def test_a_broken_archive_and_a_missing_file_are_data_errors(tmp_path: Path) -> None:
    broken = tmp_path / "record.jsonl.gz"
    broken.write_bytes(gzip.compress(b'{"format": 1}\n')[:-6])
    for path in (broken, tmp_path / "none.jsonl"):
        with pytest.raises(DataError, match="cannot be read"):
            read_changes(path)
