"""A cascade from the command line: a real panel before a real server that counts its calls."""

import json
import re
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.rows import summary
from loopback.answers import chat
from loopback.server import LoopbackServer
from typer.testing import Result

ARTICLE = "The bridge opened in 1932. It crosses the river Avon. Two towns paid for it."
TEXTS = 12
YEARS = (1935, 1932)
"""The rules find the first year wrong, in every second text."""
USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
GOOD = chat("No Error\n\nOverall score: Good", usage=USAGE)
FIRST = "grounding"
DEAR = "annotator:openai-compatible/judge"
PANEL = """
models = [{{ name = "openai-compatible/judge", base_url = "{url}", max_connections = 1 }}]
seats = [{{ judge = "grounding" }}, {{ judge = "annotator" }}]

[cascade]
stages = [["grounding"]]
{rules}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANJURY_RUNS", "home")
    rows = [
        summary(
            f"r{number}",
            f"The bridge opened in {YEARS[number % 2]}.",
            article=f"{ARTICLE} This was report {number}.",
        )
        for number in range(TEXTS)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))


def evaluate(server: LoopbackServer, *more: str, rules: str = "unsure = [0.0, 0.5]") -> list[str]:
    """Name the command that judges the rows by a cascade, where the rules see an error."""
    Path("panel.toml").write_text(PANEL.format(url=server.base_url, rules=rules))
    asked = ["evaluate", "rows.jsonl", "--aspect", "consistency", "--panel", "panel.toml"]
    return [*asked, "--no-preflight", "--show", "none", *more]


def rows(path: str = "results.jsonl") -> list[dict[str, object]]:
    """Return the rows without the time that their seats took."""
    found = [json.loads(line) for line in Path(path).read_text().splitlines()]
    for row in found:
        for seat in row["seats"]:
            seat["seconds"] = 0
    return found


def asked(row: dict[str, object]) -> list[str]:
    seats: list[dict[str, str]] = row["seats"]  # type: ignore[assignment]  # a list of seats
    return [seat["judge"] for seat in seats]


def test_the_model_is_asked_only_where_the_rules_are_unsure() -> None:
    with LoopbackServer(GOOD) as server:
        done = spanjury(*evaluate(server))
        assert len(server.requests) == 6
    whole = rows()
    assert [asked(row) for row in whole] == [[FIRST, DEAR], [FIRST]] * 6
    unasked = whole[1]["unasked"]
    assert isinstance(unasked, dict)
    assert (unasked["seats"], unasked["why"]) == ([DEAR], "sure")
    assert whole[0]["unasked"] is None
    assert "100% (12/12)" in done.output
    said = " ".join(done.output.split())
    assert f"Some seats were asked about only part of the 12 assessments: {DEAR} 6 (50%)" in said
    assert "The cascade stopped early: 6 because the seats before were sure." in said


def test_each_text_says_who_was_not_asked_and_why() -> None:
    with LoopbackServer(GOOD) as server:
        done = spanjury(*evaluate(server), "--show", "all")
    said = " ".join(done.output.split())
    assert said.count(f"not asked: {DEAR}. The estimate is") == 6
    assert "failed" not in said


def test_resume_and_rescore_give_the_same_rows_without_a_call() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*evaluate(server))
        (run,) = Path("home").iterdir()
        first = rows()
        for command in ("resume", "rescore"):
            spanjury(command, run.name, "-o", f"{command}.jsonl", "--show", "none")
            assert rows(f"{command}.jsonl") == first
        assert len(server.requests) == 6


def test_a_later_run_with_all_seats_asks_only_the_missing_ones() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*evaluate(server))
        (run,) = Path("home").iterdir()
        panel = Path("panel.toml").read_text().partition("[cascade]")[0]
        Path("all.toml").write_text(panel)
        spanjury("resume", run.name, "--panel", "all.toml", "--show", "none")
        assert len(server.requests) == 12
    assert all(asked(row) == [FIRST, DEAR] for row in rows())


@pytest.mark.parametrize(("budget", "most"), [("3calls", 3), ("2700 tokens", 5), ("100calls", 6)])
def test_a_budget_is_not_exceeded_and_every_row_has_a_score(budget: str, most: int) -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*evaluate(server, "--budget", budget))
        calls = len(server.requests)
    assert most - 3 < calls <= most
    whole = rows()
    assert all(row["score"] is not None for row in whole)
    whys = [row["unasked"]["why"] for row in whole if isinstance(row["unasked"], dict)]
    assert (whys.count("budget"), whys.count("sure")) == (6 - calls, 6)


def test_a_budget_is_the_runs_however_often_it_is_resumed() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*evaluate(server, "--budget", "3calls"))
        (run,) = Path("home").iterdir()
        first = rows()
        for command in ("resume", "rescore"):
            spanjury(command, run.name, "--show", "none", "-o", f"{command}.jsonl")
            assert rows(f"{command}.jsonl") == first
        assert len(server.requests) == 3
        spanjury("resume", run.name, "--budget", "5calls", "--show", "none")
        assert len(server.requests) == 5


def test_a_run_that_a_limit_ended_goes_on_within_its_budget() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*evaluate(server, "--budget", "4calls"))
        expected = rows()
    with LoopbackServer(GOOD) as server:
        limit = ["--max-tokens-total", "200", "--run-dir", "broken", "-o", "broken.jsonl"]
        spanjury(*evaluate(server, "--budget", "4calls", *limit), code=4)
        assert len(server.requests) < 4
        spanjury("resume", "broken", "--max-tokens-total", "100000", "--show", "none")
        assert len(server.requests) == 4
    kept = ("id", "score", "unasked")
    got = [{key: row[key] for key in kept} for row in rows("broken.jsonl")]
    assert sum(isinstance(row["unasked"], dict) for row in got) == 8
    assert len(got) == len(expected) == 12


def test_a_reply_that_cannot_be_read_leaves_the_score_to_the_others() -> None:
    with LoopbackServer(chat("I cannot say.")) as server:
        spanjury(*evaluate(server), code=1)  # nothing of one judge can be used
    failed = rows()[0]
    assert failed["unasked"] is None
    assert failed["score"] is not None


@pytest.mark.parametrize(
    ("rules", "more", "message"),
    [
        ("", (), "the cascade would always ask all seats"),
        ("unsure = [0.8, 0.2]", (), "unsure must be two numbers from 0 to 1"),
        ("unsure = 0.5", (), "cascade.unsure"),
        ("unsur = [0.2, 0.8]", (), "cascade.unsur"),
        ("unsure = [0, 0.5]\nbudget = 'five'", (), "budget 'five': expected dollars"),
        ("unsure = [0, 0.5]\nbudget = 5", (), "no price is known for"),
        ("unsure = [0, 0.5]\nbudget = 0", (), "a budget must be over 0, got 0 dollars"),
        ("unsure = [0, 0.5]", ("--budget", "0.5calls"), "too small for one row: all seats"),
        ("unsure = [0, 0.5]", ("--budget", "5"), "no price is known for"),
        ("unsure = [0, 0.5]", ("--score", "from-spans"), "cannot go with 'from-spans'"),
        ("cutoff = 3.0", ("--aggregate", "majority"), "has none of; mean, median, minimum have"),
        ("file = 'gone.toml'", (), "the cascade file gone.toml cannot be read"),
        (
            "panel = 'abc'\nunsure = [0, 0.5]",
            (),
            "the cascade is for another panel: this panel also has",
        ),
        (
            "aspect = 'summarization/fluency'\nunsure = [0, 0.5]",
            (),
            "was fitted to summarization/f",
        ),
    ],
)
def test_invalid_input_is_one_line_at_once(rules: str, more: tuple[str, ...], message: str) -> None:
    with LoopbackServer(GOOD) as server:
        done = spanjury(*evaluate(server, *more, rules=rules), code={1, 2})
        assert server.requests == ()
    assert message in " ".join(done.output.split())
    assert "Traceback" not in done.output


def test_a_stage_of_no_seat_is_refused_with_the_seats_that_there_are() -> None:
    Path("panel.toml").write_text(
        'seats = [{ judge = "grounding" }, { judge = "form" }]\n'
        '[cascade]\nstages = [["reader"]]\nunsure = [0.2, 0.8]\n'
    )
    done = spanjury("evaluate", "rows.jsonl", "--panel", "panel.toml", code={1, 2})
    said = " ".join(done.output.split())
    assert "the cascade asks reader, which is not a seat of the panel: grounding, form" in said


def test_a_panel_file_is_no_cascade_file() -> None:
    with LoopbackServer(GOOD) as server:
        done = spanjury(*evaluate(server), "--cascade", "panel.toml", code={1, 2})
    assert "panel.toml has a table [cascade]: name it as a panel file" in done.output


def test_a_stage_whose_expected_scores_are_no_map_is_refused() -> None:
    Path("cascade.toml").write_text(
        '[[stages]]\nseats = ["grounding"]\nunsure = [0, 0.5]\nestimates = [0.5, 0.4]\n'
        "scores = [0.1, 0.2]\n"
    )
    with LoopbackServer(GOOD) as server:
        evaluate(server)
        done = spanjury(*evaluate_fitted(), code={1, 2})
    said = " ".join(done.output.split())
    assert "estimates and scores of the stage of grounding: knots must ascend" in said


def test_a_budget_without_a_cascade_is_refused() -> None:
    done = spanjury("evaluate", "rows.jsonl", "--judge", "grounding", "--budget", "5", code={1, 2})
    assert "--budget needs a cascade" in " ".join(done.output.split())


def fit(server: LoopbackServer, *more: str, also: str = "", code: int | set[int] = 0) -> Result:
    """Judge the rows by all seats, and fit a cascade to that; `also` is a seat before the model."""
    again = Path("rows.jsonl").read_text()
    twice = [json.loads(line) for line in again.splitlines() for _ in range(2)]
    for number, row in enumerate(twice):
        row["id"], row["inputs"]["Article"] = f"t{number}", f"{ARTICLE} Text {number}."
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, twice)))
    command = evaluate(server, "--run-dir", "full")
    panel = Path("panel.toml").read_text().partition("[cascade]")[0]
    model = '{ judge = "annotator" }'
    Path("panel.toml").write_text(panel.replace(model, f"{also} {model}"))
    spanjury(*command)
    return spanjury("panel", "cascade", "full", "--write", "cascade.toml", *more, code=code)


def test_a_cascade_is_fitted_written_and_used() -> None:
    with LoopbackServer(GOOD) as server:
        assert "24 texts are few" in " ".join(fit(server, "-o", "pages").output.split())
        assert Path("pages/cascade.html").is_file()
        before = len(server.requests)
        spanjury(*evaluate_fitted(), "--no-memory", "-o", "staged.jsonl")
        assert len(server.requests) - before < 24
    whole = {row["id"]: row["score"] for row in rows("full/results.jsonl")}
    staged = rows("staged.jsonl")
    alone = [row for row in staged if isinstance(row["unasked"], dict)]
    assert alone
    for row in alone:  # the model says 4 of every text, so that its score is known without it
        assert row["score"] == pytest.approx(whole[row["id"]], abs=0.01)


def evaluate_fitted() -> list[str]:
    command = ["evaluate", "rows.jsonl", "--aspect", "consistency", "--panel", "panel.toml"]
    return [*command, "--cascade", "cascade.toml", "--no-preflight", "--show", "none"]


def test_a_fitted_cascade_is_refused_by_another_panel() -> None:
    with LoopbackServer(GOOD) as server:
        fit(server)
        asked = len(server.requests)
        done = spanjury(*evaluate_fitted(), "--aggregate", "median", code={1, 2})
        assert len(server.requests) == asked
    said = " ".join(done.output.split())
    assert (
        "the cascade is for another panel: the seats are the same, but the aggregation is now"
        in said
    )


def test_a_fitted_cascade_names_the_option_of_a_seat_that_has_changed() -> None:
    with LoopbackServer(GOOD) as server:
        fit(server)
        seat = '{ judge = "annotator", options = { max_tokens = 99 } }'
        Path("panel.toml").write_text(
            Path("panel.toml").read_text().replace('{ judge = "annotator" }', seat)
        )
        done = spanjury(*evaluate_fitted(), code={1, 2})
    said = " ".join(done.output.split())
    assert f"for another panel: {DEAR} had" in said
    assert "99" in said


def test_a_fitted_cascade_asks_all_seats_on_another_aspect_and_says_so() -> None:
    with LoopbackServer(GOOD) as server:
        fit(server)
        done = spanjury(*evaluate_fitted(), "--aspect", "fluency", "--no-memory")
    by_aspect = {
        aspect: [row["unasked"] for row in rows() if row["aspect"] == aspect]
        for aspect in ("consistency", "fluency")
    }
    assert any(by_aspect["consistency"])
    assert not any(by_aspect["fluency"])
    assert "summarization/fluency was put to all seats" in " ".join(done.output.split())


def test_scores_of_the_asked_seats_alone_are_counted_at_the_end() -> None:
    with LoopbackServer(GOOD) as server:
        done = spanjury(*evaluate(server))
    said = " ".join(done.output.split())
    assert "6 of 12 scores come only from the seats that were asked" in said


def test_rescoring_a_whole_run_by_a_cascade_asks_no_one() -> None:
    with LoopbackServer(GOOD) as server:
        fit(server)
        asked = len(server.requests)
        spanjury("rescore", "full", "--cascade", "cascade.toml", "--show", "none")
        assert len(server.requests) == asked
        staged = rows("full/results.jsonl")
        spanjury(*evaluate_fitted(), "--no-memory", "-o", "again.jsonl")
    assert any(row["unasked"] for row in staged)
    assert staged == rows("again.jsonl")


def test_rescoring_by_a_cascade_that_asks_more_says_how_to_ask() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*evaluate(server, "--run-dir", "short"))
        Path("more.toml").write_text('stages = [["grounding"]]\nunsure = [0.0, 1.0]\n')
        flags = ("short", "--cascade", "more.toml", "--show", "none")
        done = spanjury("rescore", *flags)
        said = " ".join(done.output.split())
        assert (
            "6 reports are missing, and this command asks no model: get them with 'spanjury resume'"
            in said
        )
        before = len(server.requests)
        spanjury("resume", *flags)
        assert len(server.requests) == before + 6
    assert all(asked(row) == [FIRST, DEAR] for row in rows("short/results.jsonl"))


def test_a_calibration_is_for_a_panel_with_its_cascade() -> None:
    with LoopbackServer(GOOD) as server:
        fit(server)
        fitted = Path("cascade.toml").read_text()
        unsure = re.sub(
            "unsure = .*", "unsure = [0.0, 0.5]", fitted
        )  # where the rules see an error
        Path("cascade.toml").write_text(unsure)
        people = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
        for number, row in enumerate(people):  # in a text without error, whatever the rules say
            row["human"] = {"consistency": {"ann": 5 if number % 4 else 1}}
        Path("people.jsonl").write_text("\n".join(map(json.dumps, people)))
        calibrate = (
            "calibrate",
            "full",
            "--human",
            "people.jsonl",
            "--rate",
            "0.3",
            "--draws",
            "100",
        )
        spanjury(*calibrate, "-o", "whole.toml")
        refused = spanjury(
            *evaluate_fitted(), "--calibration", "whole.toml", "-o", "x.jsonl", code={1, 2}
        )
        assert "the same, but not the cascade" in " ".join(refused.output.split())
        spanjury("rescore", "full", "--cascade", "cascade.toml", "--show", "none")
        spanjury(*calibrate, "-o", "staged.toml")
        assert 'signal = "score"' in Path("staged.toml").read_text()
        spanjury(*evaluate_fitted(), "--calibration", "staged.toml", "-o", "staged.jsonl")
    staged = rows("staged.jsonl")
    assert {bool(row["unasked"]) for row in staged} == {True, False}
    for row in staged:  # asked or expected, the threshold is of the panel's score
        assert row["decision_basis"]["ground"] == "score"  # type: ignore[index]  # a table


def test_a_run_of_a_cascade_is_no_run_to_fit_one_to() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*evaluate(server, "--run-dir", "staged"))
    done = spanjury("panel", "cascade", "staged", code={1, 2})
    assert "a cascade judged this run, so not all seats" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--stage", "grounding", "--stage", "reader"), "no seat reader judged consistency"),
        (("--stage", "grounding"), "a cascade needs two stages"),
        (("--stage", "grounding", "--stage", "grounding"), "--stage names grounding twice"),
        (("--aspect", "fluency"), "fluency was not judged; judged: consistency"),
        (("--stage", DEAR, "--stage", "grounding"), "so a cascade saves nothing"),
        (("--stage", "grounding,", "--stage", DEAR), "the stage 'grounding,': expected SEAT,SEAT"),
    ],
)
def test_stages_that_cannot_be_fitted_are_refused(flags: tuple[str, ...], message: str) -> None:
    with LoopbackServer(GOOD) as server:
        done = fit(server, *flags, code={1, 2})
    assert message in " ".join(done.output.split())


def test_a_seat_silent_on_the_aspect_is_asked_first_and_stays_in_place() -> None:
    with LoopbackServer(GOOD) as server:
        fitted = fit(server, also='{ judge = "form" },')
        assert "form never judges consistency, so it is asked first" in fitted.output
        spanjury(*evaluate_fitted(), "--no-memory", "-o", "staged.jsonl")
    staged = rows("staged.jsonl")
    assert all("form" in asked(row) for row in staged)
    assert any(set(asked(row)) == {"form", FIRST} for row in staged)


def test_a_run_whose_seats_all_take_nothing_has_nothing_to_save() -> None:
    free = ("--judge", "grounding", "--judge", "form", "--aspect", "consistency")
    spanjury("evaluate", "rows.jsonl", *free, "--run-dir", "free", "--show", "none")
    done = spanjury("panel", "cascade", "free", code=2)
    said = " ".join(done.output.split())
    assert "a cascade saves nothing: no seat uses calls, so all of them (grounding" in said
    assert "--stage SEAT,SEAT" in said


def test_the_first_line_shows_the_cascade_and_how_near_it_comes() -> None:
    with LoopbackServer(GOOD) as server:
        fitted = fit(server, "--share", "0.5", "-o", "pages")
    first = " ".join(fitted.stdout.split()).partition("Cost and distance")[0]
    assert first.startswith("consistency: fitted to 50% of the calls of all seats, the cascade")
    assert "its score differs from that of all seats by 0.000 of the scale" in first
