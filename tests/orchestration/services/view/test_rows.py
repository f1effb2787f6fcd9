"""Rows of real runs as a page asks for them."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.viewed_runs import ARTICLE, ROWS, judge, open_run, results, write_rows

from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.services.viewing.marking import Marked, RowKey

Json = dict[str, Any]


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
