"""Shards that are judged one by one and joined, and results that leave for other programs."""

import csv
import json
from pathlib import Path

import pytest
from fakes.aged_run import as_of_an_earlier_release
from fakes.command import spanjury, without_seconds
from fakes.earlier_rows import as_written_earlier

from spanjury.judges.core import DataError, ErrorSpan, Segment
from spanjury.orchestration.wiring.sources import open_source

ROWS = [
    {"id": str(number), "task": "summarization", "output": f"Text {number} .", "input": source}
    for number, source in enumerate("abcabcabcab")
]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANJURY_RUNS", str(tmp_path / "runs"))
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))


def evaluate(*flags: str) -> None:
    aspects = ("--aspect", "fluency", "--aspect", "consistency")
    spanjury("evaluate", "rows.jsonl", *aspects, *flags)


@pytest.fixture
def run() -> Path:
    """Return the folder of a run of two assessments a row."""
    evaluate("--run-dir", "run")
    return Path("run")


@pytest.mark.parametrize("place", [("-o", "all/results.jsonl"), ("--run-dir", "all")])
def test_merged_shards_are_the_whole_run(place: tuple[str, str]) -> None:
    evaluate("-o", "undisturbed.jsonl", "--no-memory")
    Path("all").mkdir()
    for number in (1, 2, 3):
        evaluate("--shard", f"{number}/3", *place)
    done = spanjury("merge", "all")
    assert done.stdout == ""
    counted, *cautions = done.stderr.splitlines()
    assert counted == "22 rows of 3 shards are in all/results.jsonl"
    assert len(cautions) == ("-o" in place)
    assert without_seconds(Path("all/results.jsonl")) == without_seconds(Path("undisturbed.jsonl"))


def test_a_caution_says_that_shards_outside_a_run_folder_may_be_of_different_data() -> None:
    evaluate("--shard", "1/2", "--no-memory", "-o", "all.jsonl")
    others = ({**row, "id": f"other-{row['id']}", "output": "Other."} for row in ROWS)
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, others)))
    evaluate("--shard", "2/2", "--no-memory", "-o", "all.jsonl")
    done = spanjury("merge", "all.shard-1-of-2.jsonl", "all.shard-2-of-2.jsonl")
    assert "2 of 2 shards have no run.json, which names their data" in done.stderr


def test_shards_of_a_data_file_that_was_changed_between_them_are_refused() -> None:
    evaluate("--shard", "1/2", "--run-dir", "all")
    changed = ({**row, "output": "Other."} for row in ROWS)
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, changed)))
    evaluate("--shard", "2/2", "--run-dir", "all")
    done = spanjury("merge", "all", code=1)
    assert "are not of one run: rows.jsonl had other bytes" in done.stderr


def test_shards_of_a_folder_of_texts_have_no_digest_and_are_merged() -> None:
    Path("texts").mkdir()
    for name in "abc":
        Path("texts", f"{name}.txt").write_text("A text.")
    for number in (1, 2):
        spanjury("evaluate", "texts", "--shard", f"{number}/2", "--run-dir", "all")
    assert spanjury("merge", "all").stderr.startswith("6 rows of 2 shards are in ")


def test_merged_shards_are_exported_with_their_texts() -> None:
    for number in (1, 2):
        evaluate("--shard", f"{number}/2", "--run-dir", "all")
    spanjury("merge", "all")
    spanjury("export", "all", "--texts", "-o", "all.csv")
    with Path("all.csv").open() as table:
        outputs = [row["output"] for row in csv.DictReader(table)]
    assert outputs[::2] == [row["output"] for row in ROWS]
    done = spanjury("export", "all", "--form", "factgenie", "-o", "all.factgenie.jsonl")
    assert done.stderr == "11 lines are in all.factgenie.jsonl\n"


def test_the_shard_of_a_task_is_read_from_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    evaluate("--no-memory", "-o", "whole.jsonl")
    evaluate("--no-memory", "--shard", "4")
    judged = {
        path: [json.loads(row)["id"] for row in Path(path).read_text().splitlines()][::2]
        for path in ("whole.jsonl", "results.shard-2-of-4.jsonl")
    }
    assert list(judged.values()) == [[row["id"] for row in ROWS], ["1", "5", "9"]]


def test_a_missing_shard_is_reported() -> None:
    evaluate("--shard", "2/3", "--no-memory")
    done = spanjury("merge", "results.shard-2-of-3.jsonl", code=1)
    assert "2 of them are missing: 1, 3" in done.stderr


def test_rows_are_judged_source_by_source_where_that_is_asked_for() -> None:
    evaluate("--order", "source", "--no-memory")
    rows = [json.loads(row) for row in Path("results.jsonl").read_text().splitlines()]
    assert [int(row["id"]) for row in rows[::2]] == [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8]


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(("name", "delimiter"), [("table.csv", ","), ("table.tsv", "\t")])
def test_a_run_is_exported_in_the_form_of_the_file_name(name: str, delimiter: str) -> None:
    done = spanjury("export", "run", "-o", name)
    assert (done.stdout, done.stderr) == ("", f"22 assessments are in {name}\n")
    with Path(name).open(newline="") as table:
        rows = list(csv.DictReader(table, delimiter=delimiter))
    assert [row["id"] for row in rows[::2]] == [row["id"] for row in ROWS]


@pytest.mark.usefixtures("run")
def test_spans_are_exported_too() -> None:
    done = spanjury("export", "run", "--rows", "spans", "--form", "csv", "-o", "spans")
    with Path("spans").open(newline="") as table:
        found = list(csv.DictReader(table))
    assert found
    assert done.stderr == f"{len(found)} spans are in spans\n"


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("output", [(), ("-o", "-")])
def test_without_a_file_a_table_goes_to_standard_output(output: tuple[str, ...]) -> None:
    spanjury("export", "run", "-o", "table.csv")
    done = spanjury("export", "run", *output)
    assert done.stderr == ""
    assert done.stdout_bytes == Path("table.csv").read_bytes()


def test_a_run_that_broke_off_is_exported_as_far_as_it_went(run: Path) -> None:
    results = run / "results.jsonl"
    whole = results.read_bytes().splitlines(keepends=True)[:4]
    (run / "results.jsonl.part").write_bytes(b"".join(whole) + b'{"id": "')
    results.unlink()
    done = spanjury("export", "run", "--form", "jsonl")
    assert done.stdout_bytes == b"".join(whole)
    assert (
        done.stderr == "run/results.jsonl.part belongs to an unfinished run: 4 assessments so far\n"
    )


def test_results_that_went_elsewhere_are_in_the_folder_of_their_run_too() -> None:
    evaluate("--run-dir", "run", "-o", "elsewhere.jsonl")
    for place in ("run", "elsewhere.jsonl"):
        exported = spanjury("export", place, "--form", "jsonl")
        assert exported.stdout_bytes == Path("elsewhere.jsonl").read_bytes()
    as_of_an_earlier_release(Path("run"))
    Path("elsewhere.jsonl").unlink()
    assert "run has no results yet" in spanjury("export", "run", code=1).stderr


def test_a_missing_run_is_reported() -> None:
    assert "there is no run absent" in spanjury("export", "absent", code=1).stderr


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("flags", "known"),
    [
        (("-o", "table.xlsx"), "the ending of table.xlsx must be one of csv, tsv, jsonl"),
        (("-o", "table"), "mqm, not ''"),
        (("--form", "xml"), "--form must be one of csv, tsv, jsonl"),
        (("--rows", "words"), "--rows must be one of assessments, spans, not 'words'"),
        (("--rows", "spans", "--form", "jsonl"), "expected csv or tsv"),
    ],
)
def test_an_unknown_form_is_refused_with_the_known(flags: tuple[str, ...], known: str) -> None:
    assert known in spanjury("export", "run", *flags, code=2).stderr
    assert not list(Path().glob("table*"))


@pytest.mark.parametrize(
    ("form", "name"), [("mqm", "m.mqm.tsv"), ("factgenie", "m.factgenie.jsonl")]
)
def test_spans_of_a_run_survive_a_round_trip_through_annotation_tools(form: str, name: str) -> None:
    Path("rows.jsonl").write_text(json.dumps({**ROWS[0], "output": "It is is late late ."}))
    evaluate("--run-dir", "run")
    spanjury("export", "run", "--form", form, "-o", name)
    (segment, *_) = open_source(Path(name))
    assert isinstance(segment, Segment)
    assert segment.output == "It is is late late ."
    found = {span["text"] for row in _results() for span in row["spans"]}
    assert found
    assert {span.text for one in open_source(Path(name)) for span in _gold(one)} == found


def test_marks_need_a_file_and_the_folder_of_a_run() -> None:
    evaluate("-o", "results.jsonl", "--no-memory")
    done = spanjury("export", "results.jsonl", "--form", "mqm", "-o", "x.mqm.tsv", code=2)
    assert "name the folder of a run" in done.stderr
    assert "name it with -o" in spanjury("export", "results.jsonl", "--form", "mqm", code=2).stderr


@pytest.mark.usefixtures("run")
def test_results_of_earlier_versions_are_exported_and_made_again_with_decisions() -> None:
    path = Path("run/results.jsonl")
    now = without_seconds(path)
    path.write_text("".join(f"{as_written_earlier(line)}\n" for line in now.splitlines()))
    for name in ("table.csv", "rows.of.jsonl", "x.mqm.tsv"):
        form = ("--form", "mqm") if "mqm" in name else ()
        spanjury("export", "run", *form, "-o", name)
    spanjury("rescore", "run")
    assert without_seconds(path) == now


def test_shards_of_earlier_versions_are_merged_as_they_are() -> None:
    for number in (1, 2):
        evaluate("--shard", f"{number}/2", "--run-dir", "all")
    for path in Path("all").rglob("results.jsonl"):
        earlier = map(as_written_earlier, path.read_text().splitlines())
        path.write_text("".join(f"{line}\n" for line in earlier))
    assert spanjury("merge", "all").stderr == "22 rows of 2 shards are in all/results.jsonl\n"
    assert all("decision" not in row for row in _results("all"))


def _results(run: str = "run") -> list[dict[str, list[dict[str, str]]]]:
    return [json.loads(row) for row in Path(run, "results.jsonl").read_text().splitlines()]


def _gold(read: Segment | DataError) -> tuple[ErrorSpan, ...]:
    assert isinstance(read, Segment)
    return read.gold
