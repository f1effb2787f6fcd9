"""Rows and texts of runs, as a page asks for them and as one file holds them."""

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.command import call
from fakes.viewed_runs import ARTICLE, ROWS, judge, open_run, results, write_rows

from spanjury.judges.core import ConfigError, DataError, EvaluationError, Segment
from spanjury.orchestration.services.viewing import texts as texts_of_runs
from spanjury.orchestration.services.viewing.marking import Marked, RowKey
from spanjury.orchestration.services.viewing.reading import Names, Pairing, open_readings
from spanjury.orchestration.services.viewing.sources import find_runs
from spanjury.orchestration.services.viewing.texts import TextStore
from spanjury.orchestration.services.viewing.view import View, rows_holding

Json = dict[str, Any]
HOSTILE = (
    "</script><script>alert(1)</script>\u202e\u2028\x00 \ud83d\ude00\u00e9 \t\u0627\u0644 \ufeff"
)
BLOCK = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
Blocks = dict[str, Any]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_rows(tmp_path / "rows.jsonl")
    return judge(tmp_path)


def decoded(value: object) -> Json:
    """Return what a page makes of an answer."""
    read: Json = json.loads(msgspec.json.encode(value))
    return read


def test_the_head_says_what_was_judged_by_whom(run: Path) -> None:
    with open_run(run) as view:
        head = view.head()
    (said,) = decoded(head)["runs"]
    assert (said["name"], said["is_done"], said["judges"]) == ("run", True, ["grounding", "form"])
    assert [aspect["name"] for aspect in decoded(head)["aspects"]] == ["consistency", "fluency"]
    assert decoded(head)["aspects"][0]["labels"] == [
        *("Unacceptable", "Poor", "Fair", "Good", "Excellent")
    ]
    assert (head["rows"], head["has_texts"], head["has_replies"], head["notes"]) == (
        *(8, True, False, []),
    )


def test_columns_are_those_of_the_result_rows(run: Path) -> None:
    with open_run(run) as view:
        columns = view.columns(0)
        head = view.head()
    rows = results(run)
    (of_run,) = decoded(columns)["runs"]
    assert columns["id"] == [row["id"] for row in rows]
    assert of_run["score"] == [row["score"] for row in rows]
    assert of_run["error_probability"] == [row["error_probability"] for row in rows]
    assert of_run["spans"] == [len(decoded(row)["spans"]) for row in rows]
    outcomes, decisions = decoded(head)["outcomes"], decoded(head)["decisions"]
    assert [outcomes[at] for at in of_run["outcome"]] == [row["outcome"] for row in rows]
    assert [decisions[at] for at in of_run["decision"]] == [row["decision"] for row in rows]


def test_systems_with_one_article_have_one_source(run: Path) -> None:
    with open_run(run) as view:
        assert view.columns(0)["source"] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_worst_severity_and_the_distance_of_seats_are_hand_checked(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl")
    run = judge(tmp_path)
    row = results(run)[0]
    span = {"start": 4, "end": 10, "text": "bridge", "explanation": "No.", "category": "name"}
    row["spans"] = [
        {**span, "severity": severity, "found_by": ["form"], "located": "exact"}
        for severity in (2, 4, None)
    ]
    row["seats"] = [
        {"judge": judge, "score": score, "usage": {"calls": 0}}
        for judge, score in (("grounding", 1.5), ("form", 4.0), ("third", None))
    ]
    (tmp_path / "made.jsonl").write_text(json.dumps(row) + "\n")
    with open_run(tmp_path / "made.jsonl") as view:
        columns = decoded(view.columns(0))
    (of_run,) = columns["runs"]
    assert (of_run["severity"], of_run["disagreement"], of_run["spans"]) == ([4], [2.5], [3])
    names = columns["names"]
    assert isinstance(names, dict)
    assert [[names["judges"][at] for at in found] for found in decoded(of_run)["judges"]] == [
        ["form"]
    ]
    assert names["categories"] == ["name"]


def test_details_are_the_text_and_the_result_word_for_word(run: Path) -> None:
    with open_run(run) as view:
        details = decoded(view.details([0, 1, 2]))
    texts, rows = details["texts"], details["rows"]
    assert ([row["text"] for row in rows], texts[0]["output"]) == ([0, 0, 1], ROWS[0]["output"])
    assert texts[0]["inputs"] == {"Article": ARTICLE}
    assert texts[0]["human"] == {"consistency": {"anna": 2.0}}
    assert [row["results"] for row in rows] == [[row] for row in results(run)[:3]]


def test_parts_of_the_columns_make_the_whole(run: Path) -> None:
    with open_run(run) as view:
        parts = [view.columns(start, most=3) for start in (0, 3, 6)]
        whole = view.columns(0)
    assert [name for part in parts for name in decoded(part)["id"]] == whole["id"]
    assert [part["done"] for part in parts] == [False, False, True]


def test_search_finds_what_is_in_ids_texts_and_explanations_whatever_its_case(run: Path) -> None:
    with open_run(run) as view:
        assert view.search("HARBOUR-T5") == [6, 7]
        assert view.search("premier") == [0, 1]  # the article has it, too, and is not searched
        explained = decoded(view.details(range(8)))["rows"]
        spans = [decoded(row)["results"][0]["spans"] for row in explained]
        number = next(number for number, found in enumerate(spans) if found)
        (first, *_) = decoded({"spans": spans[number]})["spans"]
        assert number in view.search(str(first["explanation"]).upper())
        assert view.search("no such words") == []


def test_search_of_a_blind_reader_does_not_tell_what_judges_said(run: Path) -> None:
    with open_run(run) as view:
        spans = [span for row in results(run) for span in decoded(row)["spans"]]
        said = str(spans[0]["explanation"])
        assert view.search(said)
        assert view.search(said, is_blind=True) == []
        assert view.search("harbour-t5", is_blind=True) == [6, 7]


def test_a_row_that_is_not_there_is_refused(run: Path) -> None:
    with open_run(run) as view:
        with pytest.raises(ConfigError, match="there is no row 8: there are 8, from 0"):
            view.details([8])
        with pytest.raises(ConfigError, match="expected 200 at most"):
            view.details([0] * 201)


def test_two_systems_are_paired_by_equal_inputs(run: Path) -> None:
    with open_run(run) as view:
        compared = decoded(view.comparison("system:bart", "system:t5"))
    scores = {(row["id"], row["aspect"]): row["score"] for row in results(run)}
    rows = {row["aspect"]: row for row in compared["rows"]}
    bart = [float(str(scores[f"{name}-bart", "consistency"])) for name in ("bridge", "harbour")]
    t5 = [float(str(scores[f"{name}-t5", "consistency"])) for name in ("bridge", "harbour")]
    assert rows["consistency"]["texts"] == 2
    assert rows["consistency"]["first"] == pytest.approx(sum(bart) / 2)
    assert rows["consistency"]["difference"] == pytest.approx((sum(t5) - sum(bart)) / 2)
    moved = [after - before for before, after in zip(bart, t5, strict=True)]
    # Of two texts a draw has both, or one of them twice.
    assert rows["consistency"]["low"] == pytest.approx(min(moved))
    assert rows["consistency"]["high"] == pytest.approx(max(moved))


@pytest.mark.parametrize("second", ["run:1", "system:gpt", "seat:form", "run:x"])
def test_a_comparison_of_what_is_not_there_is_refused(run: Path, second: str) -> None:
    with open_run(run) as view, pytest.raises(ConfigError):
        view.comparison("system:bart" if "system" in second else "run:0", second)


class Marks:
    """Marks of one person, all of the same row."""

    def __init__(self, *done: RowKey) -> None:
        self.done = done

    def annotators(self) -> list[str]:
        return ["anna"]

    def marked(self, annotator: str) -> dict[RowKey, Marked]:
        return {key: Marked(is_done=True, spans=0, score=None) for key in self.done}

    def mark(self, annotator: str, row: RowKey) -> None:
        del annotator, row

    def put(self, annotator: str, row: RowKey, mark: object, *, revision: int) -> int:
        return revision + 1


def test_a_blind_person_sees_the_results_of_rows_that_are_done(run: Path) -> None:
    with open_run(run) as view:
        key = view.row_key(2)
        assert key is not None
        view.marking = Marks(key)
        rows = decoded(view.details([1, 2], blind="anna"))["rows"]
        assert [row["results"] for row in rows] == [[None], [results(run)[2]]]
        assert view.head()["marking"] == {"annotators": ["anna"]}
        assert not any(decoded(view.columns(0, is_blind=True))["runs"][0].values())


def test_a_search_goes_on_while_further_rows_are_read(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts_of_runs, "PIECE", 4)
    found = TextStore.holding
    with ExitStack() as stack:
        pairing = Pairing(open_readings(find_runs([run]), stack, names=Names()))
        steps = pairing.read()

        def reading_on(store: TextStore, needle: bytes) -> Iterator[int]:
            yield from found(store, needle)
            next(steps, None)

        next(steps)
        monkeypatch.setattr(TextStore, "holding", reading_on)
        assert rows_holding(pairing, "1935", count=len(pairing)) == [0, 1]
        assert len(pairing) == 8


def test_a_mark_finds_its_row_again_and_no_other(run: Path) -> None:
    with open_run(run) as view:
        key = view.row_key(5)
        assert key is not None
        assert view.number_of(key) == 5
        assert view.number_of(key._replace(output="another text")) is None
        assert view.number_of(key._replace(aspect="coherence")) is None
        assert isinstance(view.segment(5), Segment)


def test_results_that_were_written_again_meanwhile_are_not_mixed_up(run: Path) -> None:
    with open_run(run) as view:
        lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
        (run / "results.jsonl").write_bytes(b"".join(reversed(lines)))
        with pytest.raises(DataError, match="was written again meanwhile"):
            view.details([1])


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
        compared = decoded(view.comparison("system:bart", "system:t5"))
        (note,) = view.notes()
    assert compared["note"].startswith("the two systems have no known inputs in common: ")
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


def blocks(path: Path) -> Blocks:
    """Return what the script of a page reads in its blocks."""
    found = {name: json.loads(text) for name, text in BLOCK.findall(path.read_text("utf-8"))}
    return {
        name: value if name == "head" else json.loads(gzip.decompress(b64decode(value)))
        for name, value in found.items()
    }


def written(run: Path, *flags: str) -> Blocks:
    call(run.parent, "view", "run", "--html", "page.html", *flags)
    return blocks(run.parent / "page.html")


def test_a_file_holds_what_the_server_answers(run: Path) -> None:
    held = written(run)
    with open_run(run) as view:
        assert held["columns"] == json.loads(json.dumps(view.columns(0)))
    rows = [row for name in held["head"]["file"]["details"] for row in held[name]["rows"]]
    assert [row["results"] for row in rows] == [[row] for row in results(run)]
    assert [row["number"] for row in rows] == list(range(8))
    assert held["head"]["marking"] is None
    assert held["head"]["has_replies"] is False
    (compared,) = held["comparisons"]
    assert (compared["first"], compared["second"]) == ("system:bart", "system:t5")


def test_the_same_run_makes_the_same_file(run: Path) -> None:
    written(run)
    before = (run.parent / "page.html").read_bytes()
    written(run)
    assert (run.parent / "page.html").read_bytes() == before


def test_the_worst_rows_are_those_of_lowest_score_in_their_order(run: Path) -> None:
    held = written(run, "--worst", "3")
    scored = sorted(results(run), key=lambda row: float(str(row["score"])))[:3]
    names = {(row["id"], row["aspect"]) for row in scored}
    rows = held["details-0"]["rows"]
    assert [row["number"] for row in rows] == [0, 1, 2]
    assert [(row["id"], row["aspect"]) for row in rows] == [
        (row["id"], row["aspect"]) for row in results(run) if (row["id"], row["aspect"]) in names
    ]
    assert "this page holds 3 of 8 results" in str(held["head"]["notes"])
    assert held["columns"]["rows"] == 3


def test_a_limit_takes_the_first_rows(run: Path) -> None:
    held = written(run, "--limit", "2")
    assert (held["columns"]["id"], held["head"]["rows"]) == (["bridge-bart", "bridge-bart"], 2)


def test_rows_without_a_score_are_the_last_of_the_worst(run: Path) -> None:
    rows = results(run)
    rows[4] = {**rows[4], "score": None, "outcome": "timed_out", "reason": "no reply within 5 s"}
    (run / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with open_run(run) as view:
        assert view.worst(8)[-1] == 4
