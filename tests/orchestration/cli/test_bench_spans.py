"""`spanjury bench spans`: marked texts in, figures beside baselines out, demands held."""

import gzip
import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest
from fakes.command import call, complaint
from fakes.marked_texts import ROWS, write_rows
from loopback.reading import ReadingServer, honest

from spanjury.orchestration.cli.exits import COVERAGE

QUICK = ("--draws", "20", "--no-progress")
SOURCE = "Ann Lee opened the bridge in 1932. It is green and crosses the river near Leeds."
MARKED = "Ann Lee opened the bridge in 1935."
FAULT = {"start": 29, "end": 33, "text": "1935", "kind": "number"}
PLACE = {key: FAULT[key] for key in ("start", "end", "text")}


def written(path: Path, rows: Iterable[object]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path.name


def row(name: str, output: str = MARKED, **more: object) -> dict[str, object]:
    return {"id": name, "inputs": {"Source": SOURCE}, "output": output, **more}


def bridges(dataset: str = "") -> list[dict[str, object]]:
    rows = [row("wrong", spans=[FAULT]), row("right", SOURCE, supported=True)]
    return [one | ({"dataset": dataset} if dataset else {}) for one in rows]


def sets(folder: Path) -> dict[str, dict[str, dict[str, object]]]:
    """Return the findings by set and judge."""
    found = json.loads((folder / "findings.json").read_text())
    return {
        one["name"]: {finding["judge"]: finding for finding in one["findings"]}
        for one in found["sets"]
    }


def figure(finding: dict[str, object], name: str) -> object:
    figures = finding["figures"]
    assert isinstance(figures, dict)
    return figures[name]["value"]


def test_a_number_missing_in_the_source_is_found_and_the_source_left_alone(tmp_path: Path) -> None:
    name = written(tmp_path / "bridges.jsonl", bridges())
    done = call(tmp_path, "bench", "spans", name, "--judge", "grounding", *QUICK)
    title = "bridges: 2 texts of 1 sources; 1 with errors, at 1 places, 1 without"
    assert title in " ".join(done.output.split())
    assert "2 texts, consistency: bridges" in done.stderr
    assert "all texts on a page: spanjury view span-bench" in done.stderr
    found = sets(tmp_path / "span-bench")["bridges"]
    assert list(found) == ["grounding", "nothing", "everything", "new words"]
    assert figure(found["grounding"], "characters.f1") == 1
    assert figure(found["grounding"], "score.auroc") == 1
    assert figure(found["everything"], "flagged.error_free") == 1
    assert "| number | 1 | 1 | 1.000 |" in (tmp_path / "span-bench" / "report.md").read_text()
    assert (tmp_path / "span-bench" / "report.html").exists()
    lines = (tmp_path / "span-bench" / "texts.jsonl").read_text().splitlines()
    wrong, right = map(json.loads, lines)
    assert wrong["id"] == "bridges/wrong"
    assert wrong["places"] == [{**PLACE, "kinds": ["number"], "extent": ""}]
    (span,) = wrong["judges"]["grounding"]["spans"]
    assert (span["text"], span["right"]) == ("1935", True)
    assert right["judges"]["grounding"]["spans"] == right["places"] == []


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    write_rows(tmp_path / "ten.jsonl")
    for folder in ("first", "second"):
        call(tmp_path, "bench", "spans", "ten.jsonl", "-o", folder, *QUICK)
    for name in ("report.md", "report.html", "findings.json", "texts.jsonl"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_the_seed_draws_the_sources(tmp_path: Path) -> None:
    write_rows(tmp_path / "ten.jsonl")
    for seed in "12":
        call(tmp_path, "bench", "spans", "ten.jsonl", "-o", seed, "--seed", seed, *QUICK)
    one, other = (sets(tmp_path / seed)["ten"]["new words"] for seed in "12")
    assert figure(one, "characters.f1") == figure(other, "characters.f1")
    assert one["figures"] != other["figures"]


def test_data_sets_are_reported_apart_and_files_of_one_name_too(tmp_path: Path) -> None:
    first = written(tmp_path / "a.jsonl", [*bridges("news"), *map(row, ["x"])])
    second = written(tmp_path / "b.jsonl.gz", [])
    with gzip.open(tmp_path / second, "wt") as packed:
        packed.writelines(f"{json.dumps(one)}\n" for one in bridges("news"))
    third = written(tmp_path / "c.jsonl", bridges())
    call(tmp_path, "bench", "spans", first, second, third, *QUICK)
    found = json.loads((tmp_path / "span-bench" / "findings.json").read_text())["sets"]
    assert [(one["name"], one["texts"], one["unknown"]) for one in found] == [
        ("a/news", 2, 0),
        ("a", 0, 1),
        ("b/news", 2, 0),
        ("c", 2, 0),
    ]
    demand = ("--require", "faulty.caught.a-news>=.5")
    call(tmp_path, "bench", "spans", first, second, *demand, *QUICK)


def test_files_of_one_name_in_two_folders_are_two_sets(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "dev.jsonl", bridges())
    call(tmp_path, "bench", "spans", "one/dev.jsonl", "two/dev.jsonl", *QUICK)
    assert list(sets(tmp_path / "span-bench")) == ["one/dev.jsonl", "two/dev.jsonl"]


def test_a_page_in_markdown_and_findings_in_json_can_be_printed(tmp_path: Path) -> None:
    name = written(tmp_path / "bridges.jsonl", bridges())
    usual = ("bench", "spans", name, "--judge", "grounding", *QUICK)
    done = call(tmp_path, *usual, "--markdown")
    assert done.stdout == (tmp_path / "span-bench" / "report.md").read_text()
    done = call(tmp_path, *usual, "--json")
    assert json.loads(done.stdout)["sets"][0]["name"] == "bridges"
    done = call(tmp_path, *usual, "--json", "--markdown", code=2)
    assert "exclude each other" in complaint(done.stderr)


def test_limits_columns_and_another_aspect_are_taken(tmp_path: Path) -> None:
    rows = [{"id": one["id"], "text": one["output"], "spans": []} for one in bridges()]
    name = written(tmp_path / "texts.jsonl", rows)
    flags = ("--aspect", "fluency", "--column", "output=text", "--limit", "1", "--judge", "form")
    call(tmp_path, "bench", "spans", name, *flags, *QUICK)
    (found,) = json.loads((tmp_path / "span-bench" / "findings.json").read_text())["sets"]
    assert (found["texts"], found["findings"][0]["judge"]) == (1, "form")
    assert found["findings"][0]["coverage"]["error_free"] == [1, 1]


def test_a_table_says_in_a_column_whether_a_text_is_supported(tmp_path: Path) -> None:
    lines = ("id,input,output,supported,spans", f'a,"{SOURCE}","{MARKED}",false,')
    more = (f'b,"{SOURCE}","{SOURCE}",true,', f'c,"{SOURCE}","{MARKED}",,[]', "d,x,y,,")
    (tmp_path / "t.csv").write_text("\n".join((*lines, *more)) + "\n")
    call(tmp_path, "bench", "spans", "t.csv", "--judge", "grounding", *QUICK)
    (found,) = json.loads((tmp_path / "span-bench" / "findings.json").read_text())["sets"]
    assert (found["faulty"], found["error_free"], found["unknown"]) == (1, 2, 1)


def test_marks_of_mqm_and_factgenie_are_measured(tmp_path: Path) -> None:
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    lines = (
        "s\td\t1\t1\tann\tBridge of 1932\tBridge of <v>1935</v>\tAccuracy/Number\tMajor",
        "s\td\t1\t2\tann\tBridge of 1932\tBridge of 1932\tNo-error\tNo-error",
    )
    (tmp_path / "t.mqm.tsv").write_text("\n".join((head, *lines)) + "\n")
    annotation = {"type": 0, "text": "1935", "start": 29}
    line = {"dataset": "d", "split": "t", "setup_id": "s", "output": MARKED}
    marks: list[list[object]] = [[annotation], []]
    rows = [{**line, "example_idx": at, "annotations": one} for at, one in enumerate(marks)]
    written(tmp_path / "f.factgenie.jsonl", rows)
    flags = ("--judge", "grounding", "--task", "translation", "--aspect", "accuracy")
    call(tmp_path, "bench", "spans", "t.mqm.tsv", *flags, *QUICK, code=COVERAGE)
    (found,) = json.loads((tmp_path / "span-bench" / "findings.json").read_text())["sets"]
    assert (found["name"], found["faulty"], found["error_free"], found["places"]) == ("t", 1, 1, 1)
    call(tmp_path, "bench", "spans", "f.factgenie.jsonl", *flags[:2], *QUICK, code=COVERAGE)
    (found,) = json.loads((tmp_path / "span-bench" / "findings.json").read_text())["sets"]
    assert (found["name"], found["faulty"], found["error_free"], found["places"]) == ("d", 1, 1, 1)
    assert found["findings"][0]["coverage"]["texts"] == [0, 2]  # they have no input


def test_a_model_is_asked_once_and_then_remembered(tmp_path: Path) -> None:
    rows = [row(str(number), f"{number} {MARKED}", supported=False) for number in range(3)]
    name = written(tmp_path / "texts.jsonl", rows)
    with ReadingServer(honest) as server:
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        done = call(tmp_path, "bench", "spans", name, *model, *QUICK)
        asked = len(server.requests)
        again = call(tmp_path, "bench", "spans", name, *model, *QUICK)
        assert len(server.requests) == asked >= 3
    assert again.stdout == done.stdout


def test_demands_are_held_and_missed_ones_exit_with_5(tmp_path: Path) -> None:
    name = written(tmp_path / "bridges.jsonl", bridges())
    usual = ("bench", "spans", name, "--judge", "grounding", *QUICK)
    demand = ("--require", "characters.f1.bridges>=.9")
    call(tmp_path, *usual, *demand)
    missed = call(tmp_path, *usual, *demand, "--require", "flagged.faulty.bridges<.5", code=5)
    assert "not met: flagged.faulty.bridges < 0.5 (it is 1)" in missed.stderr
    call(tmp_path, "exam", "card", "span-bench", *demand)


def test_a_demand_without_a_set_holds_on_each_and_names_the_one_that_fails(tmp_path: Path) -> None:
    rows = [row("b-wrong", SOURCE, supported=False), row("b-right", SOURCE, supported=True)]
    vouched = [{**one, "dataset": "vouched", "kind": "planted"} for one in rows]
    name = written(tmp_path / "two.jsonl", [*bridges("found"), *vouched])
    usual = ("bench", "spans", name, "--judge", "grounding", *QUICK)
    done = call(
        tmp_path, *usual, "--require", "vouched_misses<=.1", "--require", "decided>=.9", code=5
    )
    assert "not met: decision.vouched_misses.vouched <= 0.1 (it is 1)" in done.stderr
    assert ".found" not in done.stderr
    met = ("--require", "vouched_misses.found<=.1", "--require", "false_alarms<=0")
    call(tmp_path, *usual, *met)


def test_a_figure_that_does_not_exist_meets_no_demand(tmp_path: Path) -> None:
    name = written(tmp_path / "labels.jsonl", [row("x", supported=False), row("y", supported=None)])
    usual = ("bench", "spans", name, "--judge", "form", "--aspect", "fluency", *QUICK)
    done = call(tmp_path, *usual, "--require", "ece<=.9", "--require", "f1>=.1", code=5)
    assert "not met: probability.ece.labels <= 0.9 (it is -)" in done.stderr
    assert "not met: characters.f1.labels >= 0.1 (it is -)" in done.stderr


@pytest.mark.parametrize(
    ("rows", "flags", "code", "problem"),
    [
        ([], (), 1, "texts.jsonl: is empty"),
        ([{"output": "x"}], (), 2, "no row has gold data"),
        ([{"output": "x", "supported": "maybe"}], (), 1, "got supported 'maybe'"),
        ([{"output": "x", "spans": [{"start": 4, "end": 9}]}], (), 1, "spans[0]: got start 4"),
        ([{"supported": True}], (), 1, "line 1: the row has no output"),
        (bridges(), ("--aspect", "beauty"), 2, "aspect of summarization"),
        (bridges(), ("--task", "juggling"), 2, "unknown task"),
        (bridges(), ("--judge", "oracle"), 2, "oracle"),
        (
            bridges(),
            ("--require", "f2>=.5"),
            2,
            "no such measure 'f2'; choose from balanced_accuracy,",
        ),
        (bridges(), ("--require", "ece"), 2, "a requirement is MEASURE>=NUMBER"),
        (bridges(), ("--require", "ece<=1"), 2, "probability.ece.texts <= 1 is met by every"),
    ],
)
def test_unmeasurable_values_are_refused_with_the_reason(
    tmp_path: Path, rows: list[dict[str, object]], flags: tuple[str, ...], code: int, problem: str
) -> None:
    name = written(tmp_path / "texts.jsonl", rows)
    done = call(tmp_path, "bench", "spans", name, *flags, *QUICK, code=code)
    assert problem in complaint(done.stderr.splitlines()[-1])
    assert not (tmp_path / "span-bench" / "findings.json").exists()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = call(tmp_path, "bench", "spans", "nothing.jsonl", *QUICK, code=1)
    assert "nothing.jsonl" in complaint(done.stderr)
    call(tmp_path, "bench", "spans", code=2)


def test_rows_of_the_ten_are_all_read(tmp_path: Path) -> None:
    write_rows(tmp_path / "ten.jsonl")
    call(tmp_path, "bench", "spans", "ten.jsonl", "--judge", "grounding", *QUICK)
    (found,) = json.loads((tmp_path / "span-bench" / "findings.json").read_text())["sets"]
    assert found["texts"] + found["unknown"] == len(ROWS)
    assert (found["faulty"], found["error_free"], found["rated"]) == (6, 3, 5)


def test_hand_made_pairs_have_a_table_by_kind(tmp_path: Path) -> None:
    pairs = Path(__file__).parents[2] / "data" / "grounding_pairs.jsonl"
    call(tmp_path, "bench", "spans", str(pairs), "--judge", "grounding", *QUICK)
    page = (tmp_path / "span-bench" / "report.md").read_text()
    assert "| negation | grounding | 4 of 4 | 4 of 4 |" in page
    assert "| negation | new words | 4 of 4 | 4 of 4 |" in page
    call(tmp_path, "bench", "spans", str(pairs), "--judge", "grounding", "--by", "split", *QUICK)
    assert "| dev | grounding |" in (tmp_path / "span-bench" / "report.md").read_text()


@pytest.mark.shared_data
def test_summaries_that_people_marked_become_two_tables(tmp_path: Path, shared_data: Path) -> None:
    path = shared_data / "support" / "dev_cliff.jsonl.gz"
    flags = ("--judge", "grounding", "--draws", "0", "--no-progress")
    call(tmp_path, "bench", "spans", str(path), *flags)
    found = sets(tmp_path / "span-bench")
    xsum, cnndm = found["cliff-xsum"], found["cliff-cnndm"]
    assert xsum["grounding"]["coverage"]["texts"] == [164, 164]  # type: ignore[index]  # JSON
    assert cnndm["grounding"]["coverage"]["texts"] == [148, 148]  # type: ignore[index]  # JSON
    assert figure(xsum["everything"], "characters.f1") == pytest.approx(0.336, abs=5e-4)
    assert figure(cnndm["everything"], "characters.f1") == pytest.approx(0.022, abs=5e-4)
    with gzip.open(path, "rt") as lines:
        first = [json.loads(line) for line in islice(lines, 1)]
    assert first[0]["dataset"] == "cliff-xsum"
    assert figure(xsum["grounding"], "characters.f1") > 0.35  # type: ignore[operator]  # a number
