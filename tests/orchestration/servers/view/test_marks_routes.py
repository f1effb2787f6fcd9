"""The routes of people's marks, asked over HTTP: what is kept, refused, and hidden from whom."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fakes.viewed_runs import TOKEN, judge, open_run, served, write_rows

from spanjury.orchestration.servers.view.marks import mark_routes
from spanjury.orchestration.services.people.marks.book import MarkBook
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.wiring.marks import MarksStore

ANNA: dict[str, str | int] = {"annotator": "anna", "number": 0}
NOTHING: dict[str, object] = {
    "revision": 0,
    "score": None,
    "note": "",
    "is_done": False,
    "spans": [],
    "rejected": [],
    "scores_only": False,
}
BRIDGE: dict[str, object] = {"start": 4, "end": 10, "text": "bridge", "severity": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marked")
    write_rows(folder / "rows.jsonl")
    return judge(folder)


@pytest.fixture
def asking(run: Path) -> Iterator[httpx.Client]:
    """Ask the server of a run without marks."""
    marked = MarkedRun(run)
    for file in run.glob("marks.sqlite3*"):
        file.unlink()
    with open_run(run) as view, MarksStore(marked.marks) as store:
        view.marking = book = MarkBook(store)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with (
            served(view, routes=mark_routes(view, book, marked)) as address,
            httpx.Client(base_url=address, headers=headers) as client,
        ):
            yield client


def put(asking: httpx.Client, mark: object, **query: str | int) -> httpx.Response:
    return asking.put("/api/mark", params={**ANNA, **query}, json=mark)


def test_a_mark_is_given_back_as_it_was_put(asking: httpx.Client) -> None:
    assert asking.get("/api/mark", params=ANNA).json() == NOTHING
    span = {**BRIDGE, "category": "", "explanation": "", "verdict": "own", "origin": None}
    mark = NOTHING | {"score": 2.5, "is_done": True, "spans": [span]}
    assert put(asking, mark).json() == {"revision": 1}
    assert asking.get("/api/mark", params=ANNA).json() == mark | {"revision": 1}
    marked = asking.get("/api/marks", params={"annotator": "anna"}).json()
    assert marked == {"marked": {"0": {"is_done": True, "spans": 1, "score": 2.5}}}
    assert asking.get("/api/marks", params={"annotator": "ben"}).json() == {"marked": {}}
    assert asking.get("/api/head").json()["marking"] == {"annotators": ["anna"]}


def test_a_put_on_an_old_revision_is_answered_with_the_mark_as_it_is(asking: httpx.Client) -> None:
    assert put(asking, NOTHING | {"score": 4}).status_code == 200
    answer = put(asking, NOTHING | {"score": 1})
    assert answer.status_code == 409
    assert answer.json()["mark"] == NOTHING | {"score": 4.0, "revision": 1}


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        ([], "must be a JSON object"),
        ({"score": 3}, "which revision"),
        ({"revision": -1}, "which revision"),
        ({"revision": 0, "score": 9}, "not on the scale from 1 to 5"),
        ({"revision": 0, "score": "3"}, "cannot be read: score"),
        ({"revision": 0, "spans": [BRIDGE | {"end": 900}]}, "0 <= start < end"),
        ({"revision": 0, "spans": [BRIDGE | {"text": "ridge"}]}, "not what the output has"),
        ({"revision": 0, "spans": [BRIDGE | {"severity": 6}]}, "expected 1 to 5"),
    ],
)
def test_a_mark_that_does_not_fit_fails(asking: httpx.Client, mark: object, problem: str) -> None:
    answer = put(asking, mark)
    assert answer.status_code == 400
    assert problem in answer.json()["title"]
    assert asking.get("/api/mark", params=ANNA).json() == NOTHING


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        (
            {"done": True},
            'the mark has the key "done"; known: score, note, is_done, spans, rejected',
        ),
        (
            {"spans": [BRIDGE | {"sevrity": 2}]},
            'spans[0] has the key "sevrity"; known: start, end, text, severity,',
        ),
        (
            {"rejected": [{"run": 0, "span": 1, "why": ""}]},
            'rejected[0] has the key "why"; known: run, span',
        ),
    ],
)
def test_an_unknown_key_of_a_mark_is_refused_by_its_name(
    asking: httpx.Client, mark: dict[str, object], problem: str
) -> None:
    answer = put(asking, NOTHING | mark)
    assert answer.status_code == 422
    assert problem in answer.json()["title"]
    assert asking.get("/api/mark", params=ANNA).json() == NOTHING


def test_a_doubled_key_of_a_mark_is_refused_by_its_name(asking: httpx.Client) -> None:
    body = b'{"revision": 0, "score": 2, "spans": [], "score": 4}'
    answer = asking.put("/api/mark", params=ANNA, content=body)
    assert answer.status_code == 422
    assert answer.json() == {"title": 'the key "score" occurs twice in one object'}
    assert asking.get("/api/mark", params=ANNA).json() == NOTHING


@pytest.mark.parametrize("name", ["", "a" * 65, "a\u202eb"])
def test_an_invalid_name_is_refused(asking: httpx.Client, name: str) -> None:
    for answer in (
        put(asking, NOTHING, annotator=name),
        asking.get("/api/marks", params={"annotator": name}),
    ):
        assert answer.status_code == 400
        assert "1 to 64 printable characters" in answer.json()["title"]


def test_a_blind_reader_gets_neither_results_nor_others_scores_early(asking: httpx.Client) -> None:
    query = {"numbers": "0,1", "blind": "anna"}
    before = asking.get("/api/rows", params=query).json()
    assert [row["results"] for row in before["rows"]] == [[None], [None]]
    assert [text["human"] for text in before["texts"]] == [{}]
    put(asking, NOTHING | {"is_done": True})
    after = asking.get("/api/rows", params=query).json()
    assert [row["results"] == [None] for row in after["rows"]] == [False, True]
    humans = [after["texts"][row["text"]]["human"] for row in after["rows"]]
    assert humans == [{"consistency": {"anna": 2.0}}, {}]


def test_agreement_takes_two_who_are_done(asking: httpx.Client) -> None:
    put(asking, NOTHING | {"score": 4, "is_done": True})
    alone = asking.get("/api/agreement").json()
    assert alone["aspects"] == []
    assert "agreement needs two annotators" in alone["note"]
    for number in (0, 2):
        for who, score in (("anna", 4), ("ben", 4 - number)):
            at: dict[str, str | int] = {"annotator": who, "number": number}
            mark = asking.get("/api/mark", params=at).json()
            put(asking, mark | {"score": score, "is_done": True}, **at)
    (found,) = asking.get("/api/agreement").json()["aspects"]
    assert (found["aspect"], found["annotators"]) == ("consistency", ["anna", "ben"])
    assert (found["shared"], found["scores"]["texts"]) == (2, 2)
