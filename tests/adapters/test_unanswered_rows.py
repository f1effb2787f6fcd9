"""Results over results: an answer may replace an answer, and the lack of one may not."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.result_files import result

from spanjury.adapters.files.results.merging import ShardFolder
from spanjury.adapters.files.results.results import ResultWriter
from spanjury.adapters.files.results.unanswered_rows import without_losses
from spanjury.judges.core import Outcome, Report, Result, StoreError


def row(
    name: str = "a",
    *outcomes: Outcome,
    panel: Outcome | None = None,
    system: str = "bart",
    aspect: str = "fluency",
) -> Result:
    """Return a row whose seats s1, s2, … came to `outcomes`; the panel scores if one did."""
    made = result(name, system=system, aspect=aspect, scores=[3] * len(outcomes))
    seats = tuple(
        replace(seat, report=_report(outcome))
        for seat, outcome in zip(made.report.seats, outcomes, strict=True)
    )
    outcome = panel or (Outcome.SCORED if Outcome.SCORED in outcomes else outcomes[-1])
    report = _report(outcome)
    panel_report = replace(
        made.report, outcome=outcome, score=report.score, reason=report.reason, seats=seats
    )
    return replace(made, report=panel_report)


def _report(outcome: Outcome) -> Report:
    if outcome is Outcome.SCORED:
        return Report(score=3)
    return Report(outcome=outcome, reason="no answer")


def write(path: Path, *rows: Result) -> None:
    with ResultWriter(path) as writer:
        for each in rows:
            writer.append(each)


SCORED, SILENT, LATE, OWN = (
    Outcome.SCORED,
    Outcome.BACKEND_FAILED,
    Outcome.TIMED_OUT,
    Outcome.UNPARSEABLE,
)
GOOD = row("a", SCORED, SCORED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([GOOD], [row("a", SILENT, SILENT)]),
        ([GOOD], [row("a", LATE, OWN)]),
        ([GOOD], [row("a", SCORED, SILENT)]),  # the score would be of one seat
        ([GOOD], [row("a", SCORED, SCORED, panel=SILENT)]),  # the aggregation failed
        ([row("a", SCORED)], [row("b", SCORED), row("a", SILENT)]),
        ([row("\ud83d", SCORED)], [row("\ud83d", SILENT)]),  # JSON holds another sign for it
        ([GOOD], [row("b", SILENT), row("a", LATE, aspect="coherence")]),  # no new row has one
    ],
)
def test_a_score_is_not_replaced_by_the_lack_of_an_answer(
    tmp_path: Path, old: Sequence[Result], new: Sequence[Result]
) -> None:
    path = tmp_path / "results.jsonl"
    write(path, *old)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"1 row has a score .*results\.jsonl\.refused"):
        write(path, *new)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name, f"{path.name}.refused"]
    refused = path.with_name(f"{path.name}.refused").read_bytes().splitlines()
    assert len(refused) == len(new)
    write(path, *old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([GOOD], [row("a", OWN, OWN)]),  # the judges' own failures
        ([GOOD], [row("a", Outcome.TRUNCATED, Outcome.REFUSED)]),
        ([GOOD], [row("a", SCORED)]),  # a seat is missing
        ([GOOD], []),
        ([row("a", SCORED, SILENT)], [row("a", SCORED, SILENT)]),
        ([row("a", SILENT), row("b", OWN)], [row("a", LATE), row("b", SILENT)]),
        ([GOOD], [row("a", SILENT, system="gpt"), row("a", OWN, aspect="coherence")]),
        ([row("a", OWN)], [row("b", SILENT)]),
    ],
)
def test_any_other_row_replaces_what_is_there(
    tmp_path: Path, old: Sequence[Result], new: Sequence[Result]
) -> None:
    path = tmp_path / "results.jsonl"
    write(path, *old)
    write(path, *new)
    assert len(path.read_bytes().splitlines()) == len(new)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_the_rows_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    names = [str(number) for number in range(20)]
    write(path, *(row(name, SCORED) for name in names))
    with pytest.raises(StoreError, match=r"18 rows have scores .* the first '2' of 'bart' on 'flu"):
        write(path, *(row(name, SCORED if name in "01" else SILENT) for name in names))


def test_a_file_of_unknown_rows_gives_way_to_answers_only(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(StoreError, match="line 1: is not a result row"):
        write(path, row("a", SILENT))
    assert path.read_text() == '{"a": 1}\n'
    write(path, row("a", SCORED))
    assert json.loads(path.read_text())["id"] == "a"


def test_a_link_stays_a_link_and_what_it_points_to_stays_whole(tmp_path: Path) -> None:
    path, link = tmp_path / "results.jsonl", tmp_path / "link.jsonl"
    write(path, GOOD)
    link.symlink_to(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="1 row has a score"):
        write(link, row("a", SILENT, SILENT))
    assert (link.is_symlink(), path.read_bytes()) == (True, before)


def test_a_file_is_read_only_if_a_row_lacks_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write(path, GOOD)
    path.chmod(0)
    write(path, row("a", SCORED, OWN))
    assert path.read_bytes()


def test_shards_that_are_joined_keep_scores_too(tmp_path: Path) -> None:
    folder = ShardFolder(str(tmp_path / "run"))
    folder.create()
    for key, each in (("good", GOOD), ("bad", row("a", SILENT, SILENT))):
        write(tmp_path / f"{key}.jsonl", each)
        folder.write(key, (tmp_path / f"{key}.jsonl").read_bytes())
    folder.join(["good"])
    before = Path(folder.results).read_bytes()
    with pytest.raises(StoreError, match="1 row has a score"):
        folder.join(["bad"])
    assert Path(folder.results).read_bytes() == before
    assert Path(f"{folder.results}.refused").read_bytes() == folder.read("bad")


def test_a_row_that_was_judged_again_without_an_answer_stays_as_it_was(tmp_path: Path) -> None:
    lines = {}
    for key, each in (("good", GOOD), ("bad", row("a", SILENT, SILENT)), ("own", row("a", OWN))):
        write(tmp_path / key, each)
        lines[key] = (tmp_path / key).read_bytes()
    good, bad, own = lines["good"], lines["bad"], lines["own"]
    assert without_losses([good, good, b"{", bad], [bad, own, bad, good]) == [good, own, bad, good]
