"""The command line as a user meets it, in this process."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from fakes.command import spanjury
from fakes.rows import summary

from spanjury.judges.core import VERSION

Row = dict[str, Any]

ARTICLE = "The bridge opened in 1932. It is 503 metres long and was painted grey by the city."
GOOD: Row = summary(
    "good", "The bridge opened in 1932. It is 503 metres long.", article=ARTICLE, system="a"
)
BAD: Row = {
    **GOOD,
    "id": "bad",
    "output": "The bridge opened in 1935. It is is 503 metres long.",
    "system": "b",
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SPANJURY_")]:
        monkeypatch.delenv(name)


def write(name: str, *rows: Row | str) -> Path:
    path = Path(name)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def results(path: str = "results.jsonl") -> list[Row]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_a_file_is_judged_shown_and_written() -> None:
    done = spanjury("evaluate", write("rows.jsonl", GOOD, BAD))
    shown = " ".join(done.output.split())
    assert "in [1935](" in shown
    assert "[is is](" in shown or "is [is](" in shown
    assert "[grounding]" in shown
    assert "[form]" in shown
    assert "100% (2/2)" in shown
    rows = results()
    assert [(row["id"], row["aspect"]) for row in rows] == [
        ("good", "consistency"),
        ("good", "fluency"),
        ("bad", "consistency"),
        ("bad", "fluency"),
    ]
    scores = {(row["id"], row["aspect"]): row["score"] for row in rows}
    assert scores["good", "consistency"] > scores["bad", "consistency"]
    assert scores["good", "fluency"] > scores["bad", "fluency"]
    for row in rows:
        for span in row["spans"]:
            assert BAD["output"][span["start"] : span["end"]] == span["text"]
            assert span["found_by"]


def test_a_piped_view_is_plain_80_columns_with_the_decision_first() -> None:
    path = write("rows.jsonl", GOOD, BAD)
    done = spanjury("evaluate", path, env={"COLUMNS": "80"})
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in done.stdout
    assert [line for line in lines if line != line.rstrip()] == []
    heads = [line for line in lines if line.startswith(("  consistency: ", "  fluency: "))]
    for head, row in zip(heads, results(), strict=True):
        assert head.startswith(f"  {row['aspect']}: {row['decision']}; {row['score']:.2f} of 5, ")
    assert [row["decision"] for row in results()] == ["ok", "ok", "faulty", "unsure"]
    assert any("100% / 0%" in line for line in lines)


def test_rows_as_json_are_the_rows_of_the_file() -> None:
    done = spanjury("evaluate", write("rows.jsonl.gz", GOOD, BAD), "--json", "-o", "out.jsonl")
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert printed == results("out.jsonl")
    assert "Mean scores" in done.stderr


def test_flags_come_from_the_environment_too() -> None:
    environment = {
        "SPANJURY_ASPECT": "fluency coherence",
        "SPANJURY_JUDGE": "form",
        "SPANJURY_LIMIT": "1",
    }
    spanjury("evaluate", write("rows.jsonl", GOOD, BAD), env=environment)
    assert [row["aspect"] for row in results()] == ["fluency", "coherence"]


def test_abstaining_is_no_score_and_no_success() -> None:
    done = spanjury("evaluate", write("rows.jsonl", GOOD), "--aspect", "relevance", code=3)
    assert "abstained" in done.output
    assert "or add --model NAME: a model judges every aspect, in any language" in done.output
    assert results()[0]["score"] is None


def test_coverage_below_the_bar_exits_with_three() -> None:
    flags = ["--aspect", "relevance", "--aspect", "fluency"]
    path = write("rows.jsonl", GOOD)
    spanjury("evaluate", path, *flags, "--min-coverage", 0.5)
    spanjury("evaluate", path, *flags, "--min-coverage", 0.6, code=3)


@pytest.mark.parametrize(
    ("rows", "flags", "code", "problem"),
    [
        (None, [], 1, "rows.jsonl"),
        ([], [], 1, "rows.jsonl"),
        ([GOOD, "{broken", BAD], [], 1, "2"),
        ([{"id": "x", "task": "summarization"}], [], 1, "output"),
        ([GOOD, GOOD], [], 1, "good"),
        ([{**GOOD, "task": ""}], ["--aspect", "correctness"], 2, "name the task"),
        ([{**GOOD, "task": "poetry"}], [], 2, "poetry"),
        ([GOOD], ["--aspect", "fluancy"], 2, "consistency"),
        ([GOOD], ["--judge", "absent"], 2, "grounding"),
        ([GOOD], ["--judge", "annotator"], 2, "--model"),
        ([GOOD], ["--aggregate", "sum"], 2, "median"),
        ([GOOD], ["--consolidate", "magic"], 2, "rules"),
        ([GOOD], ["--panel", "absent.toml"], 2, "absent.toml"),
        ([GOOD], ["--panel", "absent.toml", "--judge", "form"], 2, "leave out --judge"),
        ([GOOD], ["--limit", "0"], 2, "limit"),
        ([GOOD], ["--nonsense"], 2, "nonsense"),
        ([GOOD], ["-o", "/dev/null/x"], 1, "/dev/null/x"),
    ],
)
def test_bad_input_ends_with_one_line_and_an_exit_code(
    rows: list[Row | str] | None, flags: list[str], code: int, problem: str
) -> None:
    if rows is not None:
        write("rows.jsonl", *rows)
    done = spanjury("evaluate", "rows.jsonl", *flags, code=code)
    assert problem in done.stderr
    assert "Traceback" not in done.output
    assert not Path("results.jsonl").exists()


def test_readable_rows_are_judged_when_bad_ones_are_skipped() -> None:
    done = spanjury("evaluate", write("rows.jsonl", GOOD, "{broken", BAD), "--skip-bad-rows")
    assert "skipped: rows.jsonl" in done.stderr
    assert {row["id"] for row in results()} == {"good", "bad"}


def test_a_file_without_a_readable_row_is_an_error() -> None:
    done = spanjury("evaluate", write("rows.jsonl", "{broken"), "--skip-bad-rows", code=1)
    assert "no row can be judged" in done.stderr


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("", "scored"),
        (" ", "scored"),
        ("\ud800 broken \udc00 half", "scored"),
        ("x" * 1_000_000, "scored"),
        ("日本語のテキスト。", "abstained"),
        ("a\x00b", "scored"),
    ],
)
def test_an_odd_output_is_judged_not_dropped(output: str, outcome: str) -> None:
    spanjury("evaluate", write("rows.jsonl", {**GOOD, "output": output}), code={0, 3})
    assert [row["aspect"] for row in results()] == ["consistency", "fluency"]
    assert results()[1]["outcome"] == outcome


def test_a_second_run_replaces_the_results_only_when_it_ends_well() -> None:
    spanjury("evaluate", write("rows.jsonl", GOOD))
    spanjury("evaluate", write("worse.jsonl", GOOD, "{broken"), code=1)
    assert len(results()) == 2
    spanjury("evaluate", write("rows.jsonl", GOOD, BAD))
    assert len(results()) == 4


def test_aspects_of_your_own_are_judged() -> None:
    Path("mine.toml").write_text(
        '[tasks.summarization.aspects.tidiness]\nkind = "form"\ndefinition = "It is tidy."\n'
    )
    flags = ["--aspects-file", "mine.toml", "--aspect", "tidiness"]
    spanjury("evaluate", write("rows.jsonl", BAD), *flags)
    assert [(row["aspect"], row["outcome"]) for row in results()] == [("tidiness", "scored")]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["judges"], ["annotator", "form", "grounding", "searcher"]),
        (["tasks"], ["summarization", "translation", "qa"]),
        (["aspects", "--task", "qa"], ["conciseness", "faithfulness"]),
        (["plugins"], ["spanjury.judges", "spanjury.aggregations", VERSION]),
        (["--version"], [f"spanjury {VERSION}"]),
        (["--help"], ["evaluate", "doctor"]),
        (["evaluate", "--help-all"], ["--min-coverage", "SPANJURY_MODEL"]),
    ],
)
def test_every_choice_is_listed(command: list[str], expected: list[str]) -> None:
    done = spanjury(*command, env={"COLUMNS": "200"})
    for word in expected:
        assert word in done.output


def test_an_unknown_task_of_aspects_is_a_usage_error() -> None:
    assert "summarization" in spanjury("aspects", "--task", "poetry", code=2).stderr
