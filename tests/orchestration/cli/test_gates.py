"""A run that is held to something ends with 5 where it fails, and names the rows that fail."""

import contextlib
import gzip
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from fakes.command import call, complaint, spanjury
from loopback.answers import Answer, chat
from loopback.server import LoopbackServer, Received

from spanjury.orchestration.engine.finished_rows import FinishedRow

SOURCE = "The bridge opened in 1932. It is 503 metres long and carries eight lanes of traffic."
GOOD = "The bridge opened in 1932."
WRONG = "The bridge opened in 1930."
JUDGES = ("--judge", "grounding", "--judge", "form", "--no-progress", "--show", "none")
JUDGE = ("evaluate", "rows.jsonl", *JUDGES)
BOTH = ("--aspect", "consistency", "--aspect", "fluency")


def write(folder: Path, *outputs: str, **more: str) -> None:
    rows = (
        {"id": f"r{number}", "task": "summarization", "inputs": {"Article": SOURCE}, **more}
        | {"output": output}
        for number, output in enumerate(outputs)
    )
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture(autouse=True)
def _outside_of_workflows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with ten texts, of which the second is wrong."""
    write(tmp_path, GOOD, WRONG, *[GOOD] * 8)
    return tmp_path


class PartlyServer(LoopbackServer):
    """Replies that all is good, but to a text with `unread` in it something that is no reply."""

    def __init__(self, unread: str, *, signal_at: int = 0) -> None:
        super().__init__(chat("No Error\n\nOverall score: Good"))
        self._unread = unread
        self._signal_at = signal_at

    def record(self, request: Received) -> Answer:
        good = super().record(request)
        if len(self.requests) == self._signal_at:
            os.kill(os.getpid(), signal.SIGINT)
        return chat("I like it.") if self._unread in str(request.body) else good

    @property
    def judge(self) -> tuple[str, ...]:
        model = ("--model", "openai-compatible/judge", "--model-base-url", self.base_url)
        kept = ("--max-connections", "1", "--no-preflight", "--run-dir", "run")
        return ("evaluate", "rows.jsonl", "--aspect", "fluency", *model, *kept, "--no-progress")


@pytest.mark.parametrize(
    "condition",
    [
        "severity>=4",
        "severity >= 4 and probability > .5",
        "aspect=consistency and spans>0",
        "decision=faulty",
        "decision>=unsure",
        "decision>=doubtful",  # the former word
        "decision!=ok",
        "score<3",
        "error_probability>.5",
    ],
)
def test_a_condition_that_a_report_meets_ends_the_run_with_5(folder: Path, condition: str) -> None:
    done = call(folder, *JUDGE, *BOTH, "--fail-on", condition, code=5)
    assert [line for line in done.stderr.splitlines() if line.startswith("failing: ")] == [
        line
        for line in done.stderr.splitlines()
        if line.startswith(f"failing: r1, consistency ({condition}): ")
    ]
    assert f"not met: no report with {condition} (1 of 20 reports)" in done.stderr
    assert len((folder / "results.jsonl").read_text().splitlines()) == 20


@pytest.mark.parametrize(
    "condition",
    [
        "aspect=fluency and severity>=4",
        "category=nonsense",
        "severity>=4 and probability<.1",
        "outcome!=scored",
        "score<1.1",
    ],
)
def test_a_condition_that_no_report_meets_lets_the_run_pass(folder: Path, condition: str) -> None:
    done = call(folder, *JUDGE, *BOTH, "--fail-on", condition)
    assert "(20 results, 0 of them without a score)" in done.stderr
    assert "warning:" not in done.stderr
    assert "met: --fail-on " in done.stderr


def test_the_line_of_a_failing_row_says_where_and_why(folder: Path) -> None:
    done = call(folder, *JUDGE, "--aspect", "consistency", "--fail-on", "severity>=4", code=5)
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("failing: r1"))
    assert "severity 4" in line
    assert "'1930'" in line
    assert "1932" in line


def test_no_more_than_twenty_failing_rows_are_named_and_the_rest_is_counted(tmp_path: Path) -> None:
    write(tmp_path, *[WRONG] * 23)
    done = call(tmp_path, *JUDGE, "--aspect", "consistency", "--fail-on", "severity>=4", code=5)
    assert done.stderr.count(", consistency (severity>=4): ") == 20
    assert "and 3 more rows fail\n" in done.stderr
    assert "(23 of 23 reports)" in done.stderr


@pytest.mark.parametrize(
    ("demand", "code"),
    [("2", 0), ("consistency=2", 0), ("5", 5), ("consistency=5", 5), ("fluency=5", 0)],
)
def test_a_mean_score_below_the_demand_exits_with_5(folder: Path, demand: str, code: int) -> None:
    done = call(folder, *JUDGE, *BOTH, "--fail-under", demand, code=code)
    assert ("not met: mean score of consistency >= 5 (it is " in done.stderr) == bool(code)


@pytest.mark.parametrize(
    ("share", "code"),
    [("10%", 0), ("0.1", 0), ("9.99%", 5), (".09", 5), ("0%", 5), ("0", 5), ("100%", 0)],
)
def test_the_share_of_faulty_texts_counts_texts_only(folder: Path, share: str, code: int) -> None:
    done = call(folder, *JUDGE, *BOTH, "--max-flagged", share, code=code)
    assert ("(it is 10%: 1 of 10)" in done.stderr) == bool(code)


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        (
            "--fail-on",
            "severty>=4",
            "no field 'severty'; did you mean 'severity'? Choose from severity",
        ),
        ("--fail-on", "severity", "a condition is FIELD>=VALUE"),
        ("--fail-on", "severity>=six", "severity is a number, not 'six'"),
        ("--fail-on", "severity>=6", "severity is a whole number, 1 to 5, not 6"),
        ("--fail-on", "probability>1", "'probability>1' can never hold: probability is 0 to 1"),
        ("--fail-on", "score<=5", "'score<=5' always holds: without aspect=NAME, the score is on"),
        (
            "--fail-on",
            "aspect=consistency and score<=5",
            "always holds; scores: consistency from 1 to 5",
        ),
        ("--fail-on", "score>=99", "without aspect=NAME, the score is on the scale of 1 to 5"),
        (
            "--fail-on",
            "aspect=consistency and score>=99",
            "can never hold; scores: consistency from 1 to 5",
        ),
        (
            "--fail-under",
            "consistency=7",
            "consistency >= 7 can never be reached; its scale is 1 to 5",
        ),
        ("--fail-on", "decision=wrong", "decision is ok, unsure, faulty, not 'wrong'"),
        ("--fail-on", "outcome>scored", "outcome is compared by = or !=, not by >"),
        (
            "--fail-on",
            "aspect=clarity and severity>1",
            "no text is judged on 'clarity'; aspects: c",
        ),
        ("--fail-under", "clarity=4", "no text is judged on 'clarity'; aspects: consistency"),
        ("--fail-under", "consistency", "invalid score 'consistency': write SCORE or ASPECT=SCORE"),
        ("--max-flagged", "5", "invalid share '5': write 5% or 0.05"),
        ("--max-flagged", "101%", "invalid share '101%': a share is between 0% and 100%"),
        ("--max-flagged", "few", "invalid share 'few': write a share such as 5% or 0.05"),
        ("--sarif", "found.sarif", "--sarif needs --fail-on"),
        (
            "--annotations",
            "github",
            "--annotations needs one of --fail-on, --fail-under, --max-flagged",
        ),
    ],
)
def test_a_slip_is_refused_before_the_run(folder: Path, flag: str, value: str, said: str) -> None:
    kept = ("--run-dir", "run", "--aspect", "consistency")
    assert said in complaint(call(folder, *JUDGE, *kept, flag, value, code=2).stderr)
    assert not (folder / "run").exists()


@pytest.mark.parametrize("elsewhere", [("--dry-run",), ("--engine", "ray", "--run-dir", "run")])
def test_a_sample_and_a_cluster_have_no_demands(folder: Path, elsewhere: tuple[str, ...]) -> None:
    done = call(folder, "evaluate", "rows.jsonl", *elsewhere, "--fail-on", "score<3", code=2)
    assert complaint(done.stderr).endswith("cannot be combined with --fail-on")


def test_remembered_rows_are_held_alike(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = call(folder, *JUDGE, *BOTH, "--run-dir", "run", "--fail-on", "severity>=4", code=5)
    names = [line for line in first.stderr.splitlines() if line.startswith("failing: ")]
    for command in ("resume", "rescore"):
        again = call(
            folder,
            command,
            "run",
            "--show",
            "none",
            "--no-progress",
            "--fail-on",
            "severity>=4",
            code=5,
        )
        assert [line for line in again.stderr.splitlines() if line.startswith("failing: ")] == names

    def read(_: FinishedRow) -> None:
        raise AssertionError

    monkeypatch.setattr(FinishedRow, "result", read)  # a mean needs no row to be read
    means = ("--fail-under", "fluency=5", "--max-flagged", "10%")
    call(folder, "resume", "run", "--show", "none", *means)
    call(folder, "resume", "run", "--show", "none")


def test_too_little_coverage_comes_before_what_fails(folder: Path) -> None:
    with PartlyServer("1930") as server:
        held = ("--fail-on", "score<=4", "--fail-under", "4.5", "--show", "none")
        done = call(folder, *server.judge, "--min-coverage", "0.95", *held, code=3)
    assert "not met: no report with score<=4 (9 of 10 reports)" in done.stderr
    assert "not met: mean score of fluency >= 4.5 (it is 4 over 9 scored texts)" in done.stderr
    assert "coverage 90.0%" in done.stderr
    call(folder, "rescore", "run", "--min-coverage", "0.9", *held, code=5)


def test_a_report_without_a_score_fails_only_where_a_score_is_asked(folder: Path) -> None:
    with PartlyServer("1930") as server:
        held = ("--fail-on", "score<4", "--fail-on", "decision>ok", "--fail-under", "4")
        passed = call(folder, *server.judge, "--max-flagged", "0%", *held)
    assert "(10 results, 1 of them without a score)" in passed.stderr
    assert "warning: 1 of 10 results have no score, so nothing was tested on them" in passed.stderr
    undecided = call(folder, "rescore", "run", "--fail-on", "decision!=ok", code=5)
    assert "failing: r1, fluency (decision!=ok): unparseable: " in undecided.stderr
    assert "not met: no report with decision!=ok (1 of 10 reports)" in undecided.stderr
    failed = call(folder, "rescore", "run", "--fail-on", "outcome!=scored", code=5)
    assert "failing: r1, fluency (outcome!=scored): unparseable: " in failed.stderr


def test_a_mean_and_a_share_of_nothing_are_not_met(folder: Path) -> None:
    with PartlyServer("The bridge") as server:
        done = call(
            folder, *server.judge, "--fail-under", "fluency=2", "--max-flagged", "100%", code=3
        )
    assert "not met: mean score of fluency >= 2 (no text has a score)" in done.stderr
    assert "not met: faulty texts <= 100% (no text has a decision)" in done.stderr


def test_a_stopped_run_is_not_decided_and_the_next_command_asks_the_same(folder: Path) -> None:
    write(folder, *(f"Text {number}." for number in range(10)))
    held = ("--fail-on", "score<=4", "--fail-under", "3", "--sarif", "found.sarif")
    with PartlyServer("no such text", signal_at=4) as server:
        stopped = call(folder, *server.judge, *held, code=130)
        assert "rows fail so far; not decided, since the run has not ended" in stopped.stderr
        assert (
            "spanjury resume run --fail-on 'score<=4' --fail-under 3 --sarif found.sarif"
            in stopped.stderr
        )
        assert not (folder / "found.sarif").exists()
        call(folder, "resume", "run", *held, code=5)
    assert len(json.loads((folder / "found.sarif").read_text())["runs"][0]["results"]) == 10


def test_a_shard_without_a_row_passes(folder: Path) -> None:
    held = ("--fail-under", "consistency=5", "--max-flagged", "0%")
    call(folder, *JUDGE, "--limit", "1", "--shard", "2/2", *held)


def test_an_empty_file_is_an_error_and_no_pass(folder: Path) -> None:
    (folder / "rows.jsonl").write_text("")
    call(folder, *JUDGE, "--fail-on", "severity>=4", code=1)


def test_annotations_name_file_and_line_and_escape_what_ends_them(tmp_path: Path) -> None:
    name = "50%: a,b\r\n::error::forged"
    rows = [{"output": GOOD}, {"output": WRONG, "id": name}]
    lines = [json.dumps({**row, "task": "summarization", "inputs": {"A": SOURCE}}) for row in rows]
    (tmp_path / "rows.jsonl").write_text(f"{lines[0]}\n\n{lines[1]}\n")
    held = ("--fail-on", "severity>=4", "--fail-under", "5", "--annotations", "github")
    done = call(tmp_path, *JUDGE, "--aspect", "consistency", *held, code=5)
    *misses, row = (line for line in done.stderr.splitlines() if line.startswith("::"))
    assert [line.partition("::not met: ")[0] for line in misses] == ["::error title=spanjury"] * 2
    properties, _, message = row.removeprefix("::error ").partition("::")
    assert properties == "file=rows.jsonl,line=3,title=consistency%3A severity 4"
    assert message.startswith("50%25: a,b ::error::forged, consistency: severity 4")


def test_a_workflow_sees_no_text_that_may_command_it(tmp_path: Path) -> None:
    row = {"task": "summarization", "output": f"{WRONG}\n::error::forged", "inputs": {"A": SOURCE}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    held = (*JUDGE, "--aspect", "consistency", "--fail-on", "severity>=4")
    assert "::error::forged" in call(tmp_path, *held, "--show", "all", code=5).stdout
    done = call(tmp_path, *held, "--show", "all", "--annotations", "github", code=5)
    assert "forged" not in done.stdout


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("rows.csv", f'id,output,Article\na,"{GOOD}\n",x\n\nb,{WRONG},"{SOURCE}"\n', 5),
        ("rows.tsv", f"id\toutput\tArticle\nb\t{WRONG}\t{SOURCE}\n", 2),
    ],
)
def test_table_lines_are_where_rows_begin(tmp_path: Path, name: str, text: str, line: int) -> None:
    (tmp_path / name).write_text(text)
    named = (
        "--task",
        "summarization",
        "--aspect",
        "consistency",
        "--column",
        "inputs.Article=Article",
    )
    held = ("--fail-on", "severity>=4", "--annotations", "github")
    done = call(tmp_path, "evaluate", name, *JUDGES, *named, *held, code=5)
    assert f"::error file={name},line={line},title=" in done.stderr


BROKEN = "The cafÃ© opened in 1932."


@pytest.mark.parametrize(
    ("files", "data", "place"),
    [
        ({"texts.txt": f"{GOOD}\n\n{BROKEN}\n"}, "texts.txt", "file=texts.txt,line=3,"),
        ({"texts/bart/b.txt": BROKEN}, "texts", "file=texts/bart/b.txt,title="),
    ],
)
def test_a_text_without_a_row_is_annotated_where_it_stands(
    tmp_path: Path, files: dict[str, str], data: str, place: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    named = ("--task", "summarization", "--aspect", "fluency", "--judge", "form")
    held = ("--fail-on", "severity>=4", "--annotations", "github")
    done = call(tmp_path, "evaluate", data, *named, *held, code=5)
    assert f"::error {place}" in done.stderr


def test_a_packed_file_has_no_lines(folder: Path) -> None:
    packed = gzip.compress((folder / "rows.jsonl").read_bytes())
    (folder / "rows.jsonl.gz").write_bytes(packed)
    held = ("--fail-on", "severity>=4", "--annotations", "github")
    done = call(folder, "evaluate", "rows.jsonl.gz", *JUDGES, *BOTH, *held, code=5)
    assert "::error file=rows.jsonl.gz,title=consistency" in done.stderr


def test_paths_are_from_the_checkout_root(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    held = ("--fail-on", "severity>=4", "--annotations", "github")
    done = call(folder, *JUDGE, *BOTH, *held, code=5)
    assert f"::error file={folder.name}/rows.jsonl,line=2," in done.stderr


def test_rows_of_json_on_standard_output_stay_alone(folder: Path) -> None:
    done = call(folder, *JUDGE, *BOTH, "--json", "--fail-on", "severity>=4", code=5)
    assert len([json.loads(line) for line in done.stdout.splitlines()]) == 20


def test_variables_stand_for_the_flags(folder: Path) -> None:
    arguments = ["evaluate", "rows.jsonl", "--judge", "grounding", "--no-memory"]
    variables = {"SPANJURY_FAIL_ON": "severity>=4 decision=faulty", "SPANJURY_MAX_FLAGGED": "0%"}
    with contextlib.chdir(folder):
        done = spanjury(*arguments, "--aspect", "consistency", env=variables, code=5)
    assert "failing: r1, consistency (severity>=4; decision=faulty): " in done.stderr
    assert "not met: faulty texts <= 0%" in done.stderr


def sarif(folder: Path, *flags: str) -> dict[str, Any]:
    held = ("--fail-on", "severity>=4", "--fail-on", "score<3", "--sarif", "found.sarif")
    call(folder, *JUDGE, *BOTH, *held, *flags, code=5)
    log: dict[str, Any] = json.loads((folder / "found.sarif").read_text())
    return log


def test_sarif_has_what_the_standard_requires(folder: Path) -> None:
    log = sarif(folder)
    assert log["version"] == "2.1.0"  # 3.13.2
    (run,) = log["runs"]  # 3.13.4
    driver = run["tool"]["driver"]  # 3.14.6, 3.18.2
    assert driver["name"] == "spanjury"  # 3.19.8
    assert run["invocations"] == [{"executionSuccessful": True}]  # 3.20.14
    (result,) = run["results"]
    assert result["ruleId"] == driver["rules"][result["ruleIndex"]]["id"]  # 3.27.5, 3.27.6
    assert result["ruleId"].startswith("consistency/")
    assert result["message"]["text"].startswith("r1, consistency: '1930': ")  # 3.27.11, 3.11.8
    assert result["level"] == "error"  # 3.27.10
    (location,) = result["locations"]  # 3.27.12
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "rows.jsonl"},
        "region": {"startLine": 2},
    }
    (mark,) = result["partialFingerprints"].values()  # 3.27.17
    assert isinstance(mark, str)
    assert (result["properties"]["start"], result["properties"]["end"]) == (21, 25)
    assert result["properties"]["conditions"] == ["severity>=4", "score<3"]


def test_sarif_is_the_same_again_and_empty_where_nothing_fails(folder: Path) -> None:
    first = sarif(folder)
    assert sarif(folder) == first
    passing = ("--fail-on", "score<1.1", "--sarif", "found.sarif")
    call(folder, *JUDGE, *BOTH, *passing)
    (run,) = json.loads((folder / "found.sarif").read_text())["runs"]
    assert run["results"] == []


def test_sarif_that_cannot_be_written_is_an_error(folder: Path) -> None:
    held = ("--fail-on", "severity>=4", "--sarif", "nowhere/found.sarif")
    done = call(folder, *JUDGE, *BOTH, *held, code=1)
    assert "nowhere/found.sarif: cannot be written" in done.stderr
