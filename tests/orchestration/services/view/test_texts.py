"""Texts of runs whose data changed, went away, or are said by nothing; and files that go on."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from fakes.viewed_runs import ROWS, judge, open_run, results, write_rows

from spanjury.judges.core import ConfigError, DataError, EvaluationError
from spanjury.orchestration.services.viewing.sources import find_runs
from spanjury.orchestration.services.viewing.view import View

HOSTILE = (
    "</script><script>alert(1)</script>\u202e\u2028\x00 \ud83d\ude00\u00e9 \t\u0627\u0644 \ufeff"
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_rows(tmp_path / "rows.jsonl")
    return judge(tmp_path)


def texts(view: View) -> list[str | None]:
    """Return the text of each row, as a page shows it."""
    details = json.loads(msgspec.json.encode(view.details(range(view.rows))))
    return [
        None if row["text"] is None else details["texts"][row["text"]]["output"]
        for row in details["rows"]
    ]


def outputs(rows: Sequence[Mapping[str, object]]) -> list[object]:
    return [row["output"] for row in rows for _ in ("consistency", "fluency")]


def test_a_text_whose_quotes_are_elsewhere_is_not_shown_on_any_aspect(run: Path) -> None:
    rows = [dict(row) for row in ROWS]
    spans = {row["id"]: row["spans"] for row in results(run) if row["spans"]}
    assert "bridge-bart" in spans
    rows[0]["output"] = f"Now {rows[0]['output']}"
    write_rows(run.parent / "rows.jsonl", rows)
    with open_run(run) as view:
        assert texts(view) == [None, None, *outputs(rows[1:])]
        (note,) = view.notes()
        assert view.row_key(0) is None
        assert view.search("1935") == [0]  # in the quote, which is the judge's
    assert note.startswith(f"1 texts in {run.parent / 'rows.jsonl'} are others than run judged")


def test_rows_whose_ids_are_gone_have_no_text_and_are_counted(run: Path) -> None:
    write_rows(run.parent / "rows.jsonl", ROWS[:3])
    with open_run(run) as view:
        assert texts(view) == [*outputs(ROWS[:3]), None, None]
        assert [note for note in view.notes() if "2 rows of run have no text" in note]
        assert view.columns(0)["source"] == [0, 0, 0, 0, 1, 1, -1, -1]


def test_another_systems_text_of_the_same_id_is_not_shown(run: Path) -> None:
    rows = [dict(row, system="other") for row in ROWS]
    write_rows(run.parent / "rows.jsonl", rows)
    with open_run(run) as view:
        assert texts(view) == [None] * 8


def test_data_in_another_order_are_found_by_id(run: Path) -> None:
    write_rows(run.parent / "rows.jsonl", [*reversed(ROWS)])
    with open_run(run) as view:
        assert texts(view) == outputs(ROWS)
        assert view.notes() == []


def test_a_run_whose_data_are_gone_shows_its_rows_and_says_so(run: Path) -> None:
    (run.parent / "rows.jsonl").unlink()
    with open_run(run) as view:
        assert view.rows == 8
        assert texts(view) == [None] * 8
        assert view.head()["has_texts"] is False
        (note,) = view.notes()
    assert note.startswith("the texts of run cannot be read: ")
    assert "rows.jsonl" in note


def test_a_bare_file_is_shown_with_the_data_that_are_named(run: Path, tmp_path: Path) -> None:
    bare = tmp_path / "elsewhere.jsonl"
    bare.write_bytes((run / "results.jsonl").read_bytes())
    renamed = [
        {"id": row["id"], "who": row["system"], "summary": row["output"], "task": row["task"]}
        for row in ROWS
    ]
    write_rows(tmp_path / "renamed.jsonl", renamed)
    with open_run(bare) as view:
        assert texts(view) == [None] * 8
        assert "--data" in str(view.notes())
    columns = ["output=summary", "system=who"]
    with open_run(bare, data=tmp_path / "renamed.jsonl", columns=columns) as view:
        assert texts(view) == outputs(ROWS)
        assert view.notes() == []


def test_a_run_of_the_first_rows_or_of_a_shard_has_the_right_texts(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl")
    first = judge(tmp_path, "--limit", "2", run="first")
    shard = judge(tmp_path, "--shard", "2/2", run="shards")
    with open_run(first) as view:
        assert texts(view) == outputs(ROWS[:2])
    folder = next(path.parent for path in shard.parent.rglob("*2-of-2*/results.jsonl"))
    with open_run(folder) as view:
        assert texts(view) == outputs([ROWS[1], ROWS[3]])
        assert view.notes() == []


def test_a_run_that_goes_on_is_shown_as_far_as_its_whole_lines_go(run: Path) -> None:
    lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run / "results.jsonl").unlink()
    (run / "done").unlink()
    (run / "results.jsonl.part").write_bytes(b"".join(lines[:3]) + lines[3][:40])
    with open_run(run) as view:
        assert view.rows == 3
        assert view.notes() == ["run is not at its end: its rows are shown as far as they go"]


def test_a_damaged_line_is_named_and_the_others_are_shown(run: Path) -> None:
    path = run / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"id": 1}\n', b"\xff\n", *lines[2:]]) + b'{"id": "x')
    with open_run(run) as view:
        assert view.rows == 8
        assert texts(view) == outputs(ROWS)
        first, second, third = view.notes()
    assert first.startswith(f"{path}, line 3: is not a result row")
    assert second.startswith(f"{path}, line 4: is not a result row")
    assert third == f"{path}, line 11: breaks off, so rows are missing"


@pytest.mark.parametrize("content", ["", "\n", '{"id": "a", "output": "text"}\n', "no JSON\n"])
def test_a_file_without_any_row_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match="results.jsonl"), View(find_runs([path])):
        pass


def test_a_part_file_without_a_whole_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl.part"
    path.write_text('{"id": ')
    with pytest.raises(DataError, match="holds no complete row yet"), View(find_runs([path])):
        pass


def test_a_folder_without_results_says_so(run: Path) -> None:
    (run / "results.jsonl").unlink()
    with pytest.raises(DataError, match="has no results yet"):
        find_runs([run])


def test_three_runs_and_columns_of_no_file_are_refused(run: Path) -> None:
    with pytest.raises(ConfigError, match="got 3"):
        find_runs([run, run, run])
    with pytest.raises(ConfigError, match="name it with --data"):
        find_runs([run], columns=["output=summary"])


def test_data_that_a_reader_named_wrongly_are_an_error_at_once(run: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        find_runs([run], data=tmp_path / "nowhere.jsonl")
    (tmp_path / "data.py").write_text("")
    with (
        pytest.raises(EvaluationError, match="no source reads"),
        View(find_runs([run], data=tmp_path / "data.py")),
    ):
        pass


def test_hostile_texts_come_through_word_for_word(tmp_path: Path) -> None:
    huge = "x" * 1_000_000
    rows = [
        {"id": f"{number} {HOSTILE}", "task": "summarization", "system": HOSTILE, "output": text}
        for number, text in enumerate((HOSTILE, huge))
    ]
    write_rows(tmp_path / "rows.jsonl", rows)
    run = judge(tmp_path)
    with open_run(run) as view:
        shown = texts(view)
        assert shown[0] == "".join(HOSTILE).encode("utf-16", "surrogatepass").decode("utf-16")
        assert shown[2] == huge
        assert view.search(HOSTILE.encode("utf-16", "surrogatepass").decode("utf-16")) != []
        assert view.notes() == []


def test_an_aspect_that_is_declared_nowhere_any_more_has_the_usual_scale(run: Path) -> None:
    rows = [dict(row, aspect="charm") for row in results(run)[:1]]
    (run / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with open_run(run) as view:
        aspects = view.head()["aspects"]
        assert isinstance(aspects, list)
    assert (aspects[0]["name"], aspects[0]["definition"], aspects[0]["high"]) == ("charm", "", 5)
