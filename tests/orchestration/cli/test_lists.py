"""Twenty mistyped names, each answered with the name that was meant."""

import json
import os
import subprocess
from pathlib import Path
from typing import Literal

import pytest
from fakes.command import SPANJURY, call, environment, spanjury
from fakes.terminal import on_a_terminal
from rich.cells import cell_len

import spanjury as package
from spanjury import exams
from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.lists import Listing, brief_lines, matching

ROW = '{"task": "summarization", "inputs": {"Article": "It rains."}, "output": "It rains."}\n'
FRUIT = Listing(
    headings=("name", "kind", "colour", "said of it"),
    rows=[
        ("apple", "pome", "red", "It keeps for months in a cellar."),
        ("fig", "syconium", "brown", "A wasp\nlives in it."),
    ],
    brief=("name", "colour", "said of it"),
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("evalute rows.jsonl", "evaluate"),
        ("exam discernmnt --demo", "discernment"),
        ("bench span rows.jsonl", "spans"),
        ("evaluate rows.jsonl --aspects consistency", "--aspect"),
        ("evaluate rows.jsonl --jugde grounding", "--judge"),
        ("evaluate rows.jsonl --judge groundng", "grounding"),
        ("evaluate rows.jsonl --judge grounding:max_span=2", "max_spans"),
        ("evaluate rows.jsonl --judge checker:minicheck-robert", "minicheck-roberta"),
        ("evaluate rows.jsonl --aspect consistncy", "consistency"),
        ("evaluate rows.jsonl --task sumarization", "summarization"),
        ("evaluate rows.jsonl --shape raggas", "ragas"),
        ("evaluate rows.jsonl --column outputs=output", "output"),
        ("evaluate rows.jsonl --fail-on severty>=4", "severity"),
        ("metrics score rows.jsonl --metric rogue-2", "rouge-2"),
        ("exam robustness --demo --attack authority-clam", "authority-claim"),
        ("exam discernment --demo --recipe flws", "flaws"),
        ("exam discernment --demo --require discernment.averge>=1", "discernment.average"),
        ("plugins serching", "searcher"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_nearest(
    tmp_path: Path, typed: str, meant: str
) -> None:
    (tmp_path / "rows.jsonl").write_text(ROW)
    done = call(tmp_path, *typed.split(), code=2)
    answer = done.stderr.lower()
    assert "did you mean" in answer or "possible options" in answer, done.stderr
    assert meant in done.stderr.partition("hoose from")[0]


def test_a_mistyped_parameter_is_answered_with_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"check\(\) .*did you mean 'source'"):
        package.check("It rains.", sources="It rains.")  # type: ignore[call-arg]  # the mistake
    with pytest.raises(TypeError, match=r"discernment\(\) .*'judges'"):
        exams.discernment(exams.DEMO, judge="form")  # type: ignore[call-arg]  # the mistake


def texts(listing: Listing, width: int) -> list[str]:
    return [line.plain for line in brief_lines(listing, width=width)]


def test_an_entry_is_one_line_that_ends_at_the_width() -> None:
    assert texts(FRUIT, 34) == [
        "name   colour  said of it",
        "apple  red     It keeps for month…",
        "fig    brown   A wasp lives in it.",
    ]


def test_columns_are_left_out_from_the_last_where_they_do_not_fit() -> None:
    assert texts(FRUIT, 26) == ["name   colour", "apple  red", "fig    brown"]
    assert texts(FRUIT, 12) == ["name", "apple", "fig"]


def test_entries_stand_below_the_name_of_their_group() -> None:
    grouped = Listing(
        headings=FRUIT.headings, rows=FRUIT.rows, brief=("name", "colour"), group="kind"
    )
    assert texts(grouped, 80) == [
        "  name   colour",
        "pome",
        "  apple  red",
        "syconium",
        "  fig    brown",
    ]


def test_a_name_that_is_too_long_is_whole_on_a_line_of_its_own() -> None:
    name = "a-name-that-is-longer-than-half"
    longer = Listing(
        headings=("name", "colour"),
        rows=[(name, "red"), ("fig", "brown")],
        brief=("name", "colour"),
    )
    assert texts(longer, 40) == ["name  colour", name, "      red", "fig   brown"]


def test_wide_characters_take_two_columns() -> None:
    wide = Listing(
        headings=("name", "said of it"),
        rows=[("流暢さ", "文章が自然に読めるかどうか。"), ("fluency", "It reads well.")],
        brief=("name", "said of it"),
    )
    lines = texts(wide, 22)
    assert lines == ["name     said of it", "流暢さ   文章が自然に…", "fluency  It reads wel…"]
    assert [cell_len(line) for line in lines] == [19, 22, 22]


def test_figures_stand_at_the_right_of_their_column() -> None:
    sizes = Listing(
        headings=("name", "size"),
        rows=[("a", "9 B"), ("b", "120 kB")],
        brief=("name", "size"),
        right=frozenset({"size"}),
    )
    assert texts(sizes, 80) == ["name    size", "a        9 B", "b     120 kB"]


def test_a_line_holds_no_terminal_control_characters() -> None:
    hostile = Listing(headings=("name",), rows=[("a\x1b]0;title\x07\tb",)], brief=("name",))
    assert texts(hostile, 80) == ["name", "a\ufffd]0;title\ufffd b"]


def test_entries_are_found_by_a_part_of_their_name_in_any_case() -> None:
    found = matching(FRUIT.rows, "FI", names=lambda row: row[:1], what="fruit")
    assert [row[0] for row in found] == ["fig"]
    with pytest.raises(ConfigError, match="no fruit has 'plum' in its name"):
        matching(FRUIT.rows, "plum", names=lambda row: row[:1], what="fruit")


@pytest.mark.parametrize(
    ("arguments", "cells"),
    [
        (
            ["judges", "form"],
            ["form", "Mark errors of form, regardless of the meaning of the text. Cannot see: "],
        ),
        (["tasks", "qa"], ["question-answering", "faithfulness, fluency", "qa, "]),
        (
            ["aspects", "--task", "story", "fluency"],
            ["story", "fluency", "form", "no input", "How"],
        ),
        (["plugins", "consolid"], ["spanjury.consolidators", "agent", "spanjury"]),
        (["metrics", "list", "bleurt"], ["bleurt", "learned", "references", "higher"]),
    ],
)
def test_a_piped_line_is_whole_with_tabs_in_between(arguments: list[str], cells: list[str]) -> None:
    done = spanjury(*arguments)
    found = done.stdout.splitlines()[0].split("\t")
    assert all(cell.startswith(start) for cell, start in zip(found, cells, strict=False))
    assert len(found) >= len(cells)


def test_on_a_terminal_no_line_of_a_list_is_longer_than_it_is_wide() -> None:
    screen = on_a_terminal(["aspects"], width=80)
    assert screen.code == 0
    assert len(screen.lines) > 40
    assert max(map(cell_len, screen.lines)) == 80
    assert all(line.endswith("…") for line in screen.lines if cell_len(line) == 80)


def test_long_prints_all_on_a_terminal_and_elsewhere() -> None:
    long = ["aspects", "fluency", "--task", "story", "--long"]
    for lines in (on_a_terminal(long, width=60).lines, spanjury(*long).stdout.splitlines()):
        words = " ".join(" ".join(lines).replace("│", " ").split())
        assert "no input" in words
        assert "purpose." in words  # the last word of the definition
        assert "…" not in words


def test_every_list_is_there_as_json() -> None:
    aspects = json.loads(spanjury("aspects", "--task", "story", "--json").stdout)
    (fluency,) = [one for one in aspects if one["aspect"] == "fluency"]
    assert (fluency["task"], fluency["kind"], fluency["sees"]) == ("story", "form", [])
    tasks = json.loads(spanjury("tasks", "--json", "qa").stdout)
    assert tasks[0]["default_aspects"] == ["faithfulness", "fluency"]
    for name in ("judges", "plugins"):
        assert json.loads(spanjury(name, "--json").stdout)


def test_a_word_that_nothing_holds_is_a_usage_error() -> None:
    done = spanjury("plugins", "zebra", code=2)
    assert done.stdout == ""
    assert "no plugin has 'zebra' in its name; leave it out to list all" in done.stderr
    assert "did you mean 'searcher'?" in spanjury("judges", "serching", code=2).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["judges"],
        ["--help"],
        ["tasks", "--json"],
        ["check", "--text", "It opened.", "--judge", "form", "--task", "summarization"],
    ],
)
def test_if_the_reader_of_the_output_has_left_the_command_ends_quietly(
    tmp_path: Path, arguments: list[str]
) -> None:
    done = without_reader(tmp_path, *arguments, stream="stdout")
    assert (done.returncode, done.stderr) == (141, b"")


def test_if_the_reader_of_errors_has_left_a_wrong_command_ends_with_the_same_code(
    tmp_path: Path,
) -> None:
    done = without_reader(tmp_path, "no-command", stream="stderr")
    assert (done.returncode, done.stdout) == (141, b"")


def test_a_run_whose_reader_has_left_judges_all_rows_and_ends_with_the_same_code(
    tmp_path: Path,
) -> None:
    rows = [{"output": f"Text {n}.", "task": "summarization"} for n in range(9)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    flags = ("--judge", "form", "--aspect", "fluency", "--show", "all", "-o", "r.jsonl")
    done = without_reader(tmp_path, "evaluate", "rows.jsonl", *flags, stream="stdout")
    assert (done.returncode, done.stderr) == (141, b"9 results are in r.jsonl\n")
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 9
    # A requirement that is not met is worth more than the code of the reader.
    failing = ("--fail-on", "score>=4", "--json")
    done = without_reader(tmp_path, "evaluate", "rows.jsonl", *flags, *failing, stream="stdout")
    assert done.returncode == 5


def without_reader(
    folder: Path, *arguments: str, stream: Literal["stdout", "stderr"]
) -> "subprocess.CompletedProcess[bytes]":
    """Run the command while no program reads one of its streams."""
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writing}
    try:
        return subprocess.run(
            [*SPANJURY, *arguments],
            cwd=folder,
            env=environment(folder),
            stdout=streams["stdout"],
            stderr=streams["stderr"],
            check=False,
        )
    finally:
        os.close(writing)
