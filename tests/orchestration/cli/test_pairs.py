"""Systems compared pair by pair from the command line: a file of comparisons, made once."""

import json
from pathlib import Path

import pytest
from fakes.command import call
from loopback.dialects import DIALECTS, DialectServer

from spanjury import exams
from spanjury.judges.core import DataError
from spanjury.orchestration.cli.exits import COVERAGE, GATE, LIMIT

ASPECT = ("--aspect", "consistency", "--no-progress")
SECOND = {"better": "B", "explanation": "why", "text": "B", "quote": "1932", "why": "x"}


def texts(folder: Path, *, sources: int = 2, systems: str = "xy") -> None:
    rows = [
        {
            "id": f"{number}{system}",
            "task": "summarization",
            "inputs": {"Article": f"Bridge {number} opened in 1932."},
            "output": f"{system} says that bridge {number} opened in 1932.",
            "system": system,
        }
        for number in range(sources)
        for system in systems
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows_of(folder: Path) -> list[dict[str, object]]:
    lines = (folder / "comparisons.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def model(server: DialectServer) -> tuple[str, ...]:
    return ("--model", "openai-compatible/m", "--model-base-url", server.base_url)


def test_the_demo_is_compared_without_a_model(tmp_path: Path) -> None:
    done = call(tmp_path, "pairs", "--demo", "--limit", "8", *ASPECT)
    assert "4 systems, 12 comparisons by panel" in done.output
    rows = rows_of(tmp_path / "pairs")
    assert len(rows) == 12
    assert {row["consistent"] for row in rows} == {None}
    findings = json.loads((tmp_path / "pairs" / "findings.json").read_text())
    assert findings["aspects"][0]["answered"] == 12
    assert findings["order"]["first"]["value"] is None


def test_a_model_is_asked_in_both_orders_and_never_twice(tmp_path: Path) -> None:
    texts(tmp_path)
    with DialectServer(DIALECTS["SGLang"], text="", filled=SECOND) as server:
        flags = ("pairs", "rows.jsonl", *model(server), *ASPECT)
        stopped = call(tmp_path, *flags, "--max-calls", "3", "--no-preflight", code=LIMIT)
        assert "run the same command to continue" in stopped.output
        asked = len(server.requests)
        assert asked == 3
        done = call(tmp_path, *flags, "--no-preflight")
        assert len(server.requests) == 4
        call(tmp_path, *flags, "--no-preflight")
        assert len(server.requests) == 4
    rows = rows_of(tmp_path / "pairs")
    # The server prefers the second text, whichever it is.
    assert [row["preference"] for row in rows] == ["tie", "tie"]
    assert [row["consistent"] for row in rows] == [False, False]
    card = json.loads((tmp_path / "pairs" / "findings.json").read_text())["card"]
    values = {measure["name"]: measure["value"] for measure in card["measures"]}
    assert values == {"pairs.answered": 1, "pairs.consistent": 0, "pairs.first": 0}
    assert "comparer:openai-compatible/m" in card["seats"]
    assert "0.00" in done.output


def test_a_demand_that_is_missed_ends_with_its_code(tmp_path: Path) -> None:
    texts(tmp_path)
    with DialectServer(DIALECTS["SGLang"], text="", filled=SECOND) as server:
        flags = ("pairs", "rows.jsonl", *model(server), *ASPECT)
        done = call(tmp_path, *flags, "--require", "pairs.consistent>=0.9", code=GATE)
    assert "not met: " in done.output


@pytest.mark.parametrize(
    ("flags", "count"), [((), 6), (("--against", "y"), 4), (("--draw", "3"), 3)]
)
def test_all_some_or_drawn_pairs_are_compared(
    tmp_path: Path, flags: tuple[str, ...], count: int
) -> None:
    texts(tmp_path, systems="xyz")
    done = call(tmp_path, "pairs", "rows.jsonl", *ASPECT, *flags, "-o", "out")
    assert len(rows_of(tmp_path / "out")) == count
    assert f"{count} comparisons" in done.output


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--against", "w"), "no text has the system 'w'; the systems are: x, y"),
        (("--against", "x", "--draw", "2"), "either a system"),
        (("--pair-judge", "comparer"), "asks one model, got none"),
        (("--pair-judge", "nobodys"), "nobodys"),
        (("--pair-judge", "panel:margin=-1"), "margin"),
        (("--require", "pairs.luck>=1"), "pairs.consistent"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_choices(
    tmp_path: Path, flags: tuple[str, ...], problem: str
) -> None:
    texts(tmp_path)
    done = call(tmp_path, "pairs", "rows.jsonl", *ASPECT, *flags, code=2)
    assert problem in done.output
    assert "Traceback" not in done.output


def test_texts_of_one_system_make_no_pair(tmp_path: Path) -> None:
    texts(tmp_path, systems="x")
    done = call(tmp_path, "pairs", "rows.jsonl", *ASPECT, code=1)
    assert "no two systems have a text about the same source" in done.output


def test_pairs_are_compared_from_python(tmp_path: Path) -> None:
    texts(tmp_path, systems="xyz")
    report = exams.pairs(tmp_path / "rows.jsonl", aspects="consistency", judges="grounding")
    assert len(report.result.rows) == 6
    assert report.measures["pairs.answered"].value == 1
    assert report.tables["consistency"].to_dicts()[0]["ties"] == 2
    with pytest.raises(DataError, match="no two systems"):
        exams.pairs([{"task": "summarization", "output": "x"}])


@pytest.mark.heavy
def test_systems_are_ranked_by_their_comparisons(tmp_path: Path) -> None:
    call(tmp_path, "pairs", "--demo", "--draw", "40", *ASPECT)
    done = call(tmp_path, "rank", "pairs", "--pairwise", "-o", "ranking")
    assert "expected share" in done.output
    (aspect,) = json.loads((tmp_path / "ranking" / "ranking.json").read_text())["aspects"]
    assert {each["system"] for each in aspect["systems"]} == {
        *("right", "right-long", "wrong", "wrong-long")
    }
    by_file = call(tmp_path, "rank", "pairs/comparisons.jsonl", "--pairwise", "--json")
    assert json.loads(by_file.stdout)["aspects"] == [aspect]
    report = exams.rank(tmp_path / "pairs", pairwise=True, aspects="consistency")
    assert len(report.result.aspects) == 1


@pytest.mark.parametrize(
    ("flags", "code", "problem"),
    [
        (("pairs", "--aspect", "fluency"), 2, "fluency was not compared; compared: consistency"),
        (("pairs", "pairs/comparisons.jsonl"), 2, "compared twice on consistency"),
        (("pairs", "--human", "rows.jsonl"), 2, "leave out people's scores"),
        (("missing",), 1, "comparisons are made by 'spanjury pairs TEXTS -o FOLDER'"),
        (("rows.jsonl",), 1, "rows.jsonl, line 1: is no comparison of 'spanjury pairs'"),
    ],
)
def test_what_cannot_be_ranked_says_why(
    tmp_path: Path, flags: tuple[str, ...], code: int, problem: str
) -> None:
    texts(tmp_path)
    call(tmp_path, "pairs", "rows.jsonl", *ASPECT)
    done = call(tmp_path, "rank", *flags, "--pairwise", code=code)
    assert problem in done.output


def test_comparisons_that_all_failed_rank_nothing(tmp_path: Path) -> None:
    texts(tmp_path)
    with DialectServer(DIALECTS["SGLang"], text="", filled={"better": "C"}) as server:
        flags = ("pairs", "rows.jsonl", *model(server), *ASPECT)
        failed = call(tmp_path, *flags, code=COVERAGE)
    assert "too few assessments have a score" in failed.output
    assert "see which models answer: spanjury doctor --model" in failed.output
    assert {row["outcome"] for row in rows_of(tmp_path / "pairs")} == {"unparseable"}
    ranked = call(tmp_path, "rank", "pairs", "--pairwise", code=1)
    assert "no comparison has a preference" in ranked.output


def test_the_offline_judge_of_pairs_is_examined_and_put_on_its_card(tmp_path: Path) -> None:
    call(tmp_path, "exam", "preference", "--demo", "--no-progress", "--limit", "24")
    findings = json.loads((tmp_path / "preference" / "findings.json").read_text())
    assert [each["aspect"] for each in findings["aspects"]] == ["consistency"]
    assert findings["whole"]["agreement"]["trials"] == 24
    assert findings["whole"]["longer"]["people"] == pytest.approx(1 / 3, abs=1e-5)
    call(tmp_path, "exam", "card", "preference", "-o", "card")
    assert "preference.longer_net" in (tmp_path / "card" / "card.md").read_text()


def test_a_judge_that_takes_the_first_text_is_shown_to_do_so(tmp_path: Path) -> None:
    first = {**SECOND, "better": "A"}
    with DialectServer(DIALECTS["SGLang"], text="", filled=first) as server:
        flags = ("exam", "preference", "--demo", "--limit", "12", "--no-progress", *model(server))
        call(tmp_path, *flags, "--require", "preference.first<=0.6", code=GATE)
    card = json.loads((tmp_path / "preference" / "findings.json").read_text())["card"]
    values = {measure["name"]: measure["value"] for measure in card["measures"]}
    assert (values["preference.first"], values["preference.consistent"]) == (1, 0)
    # Its preferences turn with the order, so that all comparisons are ties.
    assert values["preference.agreement"] == values["preference.longer"] == 0.5
    assert values["preference.own"] is None
