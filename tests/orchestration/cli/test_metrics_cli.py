"""`spanjury metrics`, `meta` and `compare`, from files to tables."""

import importlib
import json
import math
from pathlib import Path

import pytest
from fakes.command import spanjury

from spanjury.orchestration.services.judging.metrics import read_metric_scores, score_metric

TEXT = "the old bridge was closed because two of its pillars had cracked"
WORDS = TEXT.split()


def row(document: int, system: int) -> dict[str, object]:
    """Return an output with `system` wrong words, and a rating that falls with them."""
    output = [f"x{document}" if place < system else word for place, word in enumerate(WORDS)]
    return {
        "id": f"{document}/{system}",
        "system": f"s{system}",
        "doc_id": document,
        "inputs": {"Article": " ".join(WORDS) + f" in town {document}"},
        "output": " ".join(output),
        "references": [" ".join(WORDS), " ".join(WORDS[2:])],
        "human": {"consistency": 5 - system + document / 10},
    }


@pytest.fixture(autouse=True)
def _in_a_folder_with_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [row(document, system) for document in range(4) for system in range(5)]
    Path("texts.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_the_list_has_every_metric_and_can_be_narrowed() -> None:
    assert "40 metrics under 50 names" in spanjury("metrics", "list").output
    narrowed = json.loads(
        spanjury(
            "metrics", "list", "--reference-free", "--category", "readability", "--json"
        ).stdout
    )
    assert [card["name"] for card in narrowed] == [
        *("coleman-liau", "flesch-kincaid-grade", "flesch-reading-ease", "gunning-fog")
    ]


def test_a_wrong_word_lists_the_choices() -> None:
    done = spanjury("metrics", "list", "--dimension", "beauty", code=2)
    assert "choose from" in done.stderr
    assert "fluency" in done.stderr
    done = spanjury("metrics", "card", "blue", code=2)
    assert "bleu" in done.stderr


def test_a_card_is_printed_as_a_table_as_json_and_as_a_page() -> None:
    assert "neither end is better" in spanjury("metrics", "card", "density").output
    card = json.loads(spanjury("metrics", "card", "wer", "--json").stdout)
    assert (card["low"], card["high"], card["direction"]) == (0.0, None, "lower")
    assert spanjury("metrics", "card", "wer", "--markdown").stdout.startswith("# ")


def test_texts_are_scored_and_the_scores_kept() -> None:
    done = spanjury(
        *("metrics", "score", "texts.jsonl", "--metric", "wer", "--metric", "bleu:max_order=1"),
        *("--metric", "bleu:max_order=2,name=bleu_2", "-o", "scores.jsonl", "--json"),
    )
    done = json.loads(done.stdout)
    assert [one["metric"] for one in done["metrics"]] == ["wer", "bleu:max_order=1", "bleu_2"]
    head, rows = read_metric_scores(Path("scores.jsonl"))
    assert head.metrics["wer"].better == "lower"
    assert "max_order:2" in head.metrics["bleu_2"].signature
    by_id = {one.id: one.scores for one in rows}
    assert by_id["0/0"]["wer"] == 0.0
    assert by_id["0/3"]["wer"] == pytest.approx(3 / len(WORDS))  # of two references the better


def test_scores_of_systems_are_given_on_request() -> None:
    flags = ("--metric", "f1", "--by-system", "--json")
    done = json.loads(spanjury("metrics", "score", "texts.jsonl", *flags).stdout)
    systems = {one["system"]: one["score"] for one in done["metrics"]}
    assert systems["s0"] == 1.0
    assert systems["s0"] > systems["s2"] > systems["s4"]


def test_a_metric_of_whole_corpora_measures_each_system() -> None:
    rows = [("one", "It rained."), ("one", "It rained."), ("two", "It rained."), ("two", "Go on.")]
    lines = [
        json.dumps({"id": str(number), "system": system, "output": output})
        for number, (system, output) in enumerate(rows)
    ]
    Path("systems.jsonl").write_text("\n".join(lines))
    flags = ("--metric", "self-bleu", "--by-system", "--json")
    done = json.loads(spanjury("metrics", "score", "systems.jsonl", *flags).stdout)
    systems = {one["system"]: one["score"] for one in done["metrics"]}
    assert systems["one"] == score_metric("self-bleu", ["It rained."] * 2).corpus
    assert systems["one"] > systems["two"]


def test_without_references_the_metrics_that_need_some_say_so_or_are_skipped() -> None:
    Path("bare.txt").write_text("One text.\n\nAnother text.\n")
    refused = spanjury("metrics", "score", "bare.txt", "--metric", "bleu", code=1)
    assert "metric 'bleu' needs references, and row 'line-1' and 2 more have none" in refused.stderr
    done = spanjury("metrics", "score", "bare.txt", "--no-progress")
    assert "gunning-fog" in done.stdout
    skipped = [line for line in done.stderr.splitlines() if line.startswith("skipped: ")]
    reasons = [line.rpartition(": ")[2] for line in skipped]
    assert len({*reasons}) == len(reasons)
    (bleu,) = (line for line in skipped if " bleu, " in line)
    assert bleu.endswith(": needs references, and row 'line-1' and 2 more have none")


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        ("bleu:order=3", "Choose from max_order"),
        ("bleu:max_order=x", "max_order"),
        ("bleu:smoothing=most", "most"),
        ("f1:over_refs=any", "best, mean, worst"),
        pytest.param("bertscore", "model", marks=pytest.mark.heavy),  # imports torch
        ("nubia", "nubia"),
    ],
)
def test_a_metric_that_cannot_be_made_says_why(metric: str, problem: str) -> None:
    assert problem in spanjury("metrics", "score", "texts.jsonl", "--metric", metric, code=2).stderr


def test_two_metrics_of_one_name_are_refused() -> None:
    done = spanjury("metrics", "score", "texts.jsonl", "--metric", "f1", "--metric", "f1", code=2)
    assert "add name=" in done.stderr


def test_references_come_from_files_beside_the_texts() -> None:
    Path("out.txt").write_text("the cat sat\na dog ran\n")
    Path("ref.txt").write_text("the cat sat\nthe dog ran\n")
    flags = ("--reference", "ref.txt", "--metric", "wer", "-o", "s.jsonl")
    spanjury("metrics", "score", "out.txt", *flags)
    _, rows = read_metric_scores(Path("s.jsonl"))
    assert [one.scores["wer"] for one in rows] == [0.0, pytest.approx(1 / 3)]
    Path("short.txt").write_text("the cat sat\n")
    done = spanjury(
        "metrics", "score", "out.txt", "--reference", "short.txt", "--metric", "wer", code=1
    )
    assert "2 texts, and short.txt has 1" in done.stderr


def test_texts_without_a_file_in_a_folder_of_references_are_named() -> None:
    for folder, names in (("out", "abc"), ("refs", "a")):
        Path(folder).mkdir()
        for name in names:
            Path(folder, f"{name}.txt").write_text("It opened in 1932.")
    flags = ("metrics", "score", "out", "--reference", "refs", "--metric", "wer")
    assert "refs has no text for 'b.txt' and 1 more\n" in spanjury(*flags, code=1).stderr
    Path("out/c.txt").unlink()
    assert "refs has no text for 'b.txt'\n" in spanjury(*flags, code=1).stderr


def test_metrics_and_a_panel_are_held_against_people() -> None:
    spanjury(
        "metrics", "score", "texts.jsonl", "--metric", "wer", "--metric", "f1", "-o", "m.jsonl"
    )
    flags = ("--task", "summarization", "--aspect", "consistency", "--judge", "grounding")
    spanjury("evaluate", "texts.jsonl", *flags, "-o", "panel.jsonl", "--no-memory")
    done = spanjury(
        *("meta", "m.jsonl", "panel.jsonl", "--human", "texts.jsonl", "--draws", "50"),
        *("-o", "page", "--json"),
    )
    found = {one["scorer"]: one for one in json.loads(done.stdout)["agreements"]}
    assert found.keys() == {"wer", "f1", "panel", "grounding"}
    assert found["wer"]["value"] == pytest.approx(1.0)  # fewer errors, higher ratings
    assert found["wer"]["coverage"] == 1.0
    assert "| wer | **1.000** [" in Path("page/meta.md").read_text()
    assert json.loads(Path("page/meta.json").read_text())["settings"]["draws"] == 50


def test_without_draws_no_test_was_run_and_no_scorer_is_marked() -> None:
    flags = ("--metric", "wer", "--metric", "f1", "-o", "m.jsonl")
    spanjury("metrics", "score", "texts.jsonl", *flags)
    compare = ("meta", "m.jsonl", "--human", "texts.jsonl", "-o", "page", "--draws")
    untested, tested = spanjury(*compare, "0"), Path("page/meta.md").read_text()
    assert "No test was run" in untested.stdout
    assert "*" not in untested.stdout
    assert "No test was run" in tested
    assert not [line for line in tested.splitlines() if "**" in line and "|" in line]
    plain = json.loads(Path("page/meta.json").read_text())
    assert {one["standing"] for one in plain["agreements"]} == {"untested"}
    marked = spanjury(*compare, "50")
    assert "* The scorer closest" in marked.stdout
    assert "1.000] *" in marked.stdout


def test_unrated_and_unscored_texts_are_reported() -> None:
    spanjury("metrics", "score", "texts.jsonl", "--metric", "f1", "-o", "m.jsonl")
    done = spanjury("meta", "m.jsonl", "--human", "texts.jsonl", "--aspect", "beauty", code=2)
    assert "they rated consistency" in done.stderr
    Path("others.jsonl").write_text(json.dumps({**row(0, 0), "id": "another"}))
    done = spanjury("meta", "m.jsonl", "--human", "others.jsonl", code=1)
    assert "no score is of a row" in done.stderr
    Path("unrated.jsonl").write_text(json.dumps({"id": "0/0", "output": "x"}))
    done = spanjury("meta", "m.jsonl", "--human", "unrated.jsonl", code=1)
    assert "no row has people's scores" in done.stderr
    assert "name a column of scores by --column human.ASPECT=COLUMN" in done.stderr


def test_two_runs_are_compared_text_by_text() -> None:
    flags = ("--task", "summarization", "--aspect", "consistency", "--no-memory")
    spanjury("evaluate", "texts.jsonl", *flags, "--judge", "grounding", "-o", "a.jsonl")
    spanjury("evaluate", "texts.jsonl", *flags, "--judge", "grounding", "-o", "b.jsonl")
    same = spanjury("compare", "a.jsonl", "b.jsonl", "--json")
    found = json.loads(same.stdout)
    assert [(one["scorer"], one["p"], one["texts"]) for one in found["differences"]] == [
        ("panel", 1.0, 20),
        ("grounding", 1.0, 20),
    ]
    assert found["changes"] == []
    shown = spanjury("compare", "a.jsonl", "b.jsonl", "--fail-on-worse").stdout
    assert "+0.000" in shown
    assert "Changed decisions" not in shown


def test_changed_decisions_are_listed_and_may_fail_the_comparison() -> None:
    flags = ("--task", "summarization", "--aspect", "consistency", "--no-memory")
    spanjury("evaluate", "texts.jsonl", *flags, "--judge", "grounding", "-o", "a.jsonl")
    rows = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    for row in rows:
        row["decision"] = "ok"
    Path("a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for row in rows[:12]:
        row["decision"] = "unsure"
    rows[5]["decision"] = "faulty"
    Path("b.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    worst = rows[5]["id"]
    done = spanjury("compare", "a.jsonl", "b.jsonl", "--fail-on-worse", "-o", "out", code=5)
    assert "12 decisions changed, 12 for the worse." in " ".join(done.stdout.split())
    assert "and 2 more" in done.stdout
    assert "not met: no decision is worse in the second run (12 worse; worst: " in done.stderr
    assert f"{worst}" in done.stderr
    changed = json.loads(Path("out/comparison.json").read_text())["changes"]
    assert len(changed) == 12
    assert (changed[0]["first"], changed[0]["second"], changed[0]["worse"]) == (
        "ok",
        "faulty",
        True,
    )
    assert Path("out/comparison.md").read_text().count("| unsure") == 11
    spanjury("compare", "b.jsonl", "a.jsonl", "--fail-on-worse")


@pytest.fixture
def judged() -> list[dict[str, object]]:
    """Return the result rows of a run, which are in a.jsonl."""
    flags = ("--task", "summarization", "--aspect", "consistency", "--no-memory")
    spanjury("evaluate", "texts.jsonl", *flags, "--judge", "grounding", "-o", "a.jsonl")
    return [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]


def write(path: str, rows: list[dict[str, object]]) -> None:
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_runs_without_a_text_in_common_cannot_be_compared(judged: list[dict[str, object]]) -> None:
    write("b.jsonl", [{**row, "id": f"new-{row['id']}"} for row in judged])
    done = spanjury("compare", "a.jsonl", "b.jsonl", "--fail-on-worse", code=1)
    assert "a.jsonl and b.jsonl have no score in common" in done.stderr


def test_a_decision_that_the_second_run_lacks_is_reported_and_fails_the_gate(
    judged: list[dict[str, object]],
) -> None:
    unscored: dict[str, object] = {
        "score": None,
        "decision": None,
        "outcome": "timed_out",
        "seats": [],
    }
    write("b.jsonl", [{**judged[0], **unscored}, *judged[6:]])
    done = spanjury("compare", "a.jsonl", "b.jsonl")
    assert "6 results of a.jsonl have a decision there and none in b.jsonl" in " ".join(
        done.stdout.split()
    )
    done = spanjury("compare", "a.jsonl", "b.jsonl", "--fail-on-worse", code=5)
    assert "has one in the second (6 have none; first: " in done.stderr
    spanjury("compare", "b.jsonl", "a.jsonl", "--fail-on-worse")


def test_the_gate_is_refused_for_scores_without_decisions() -> None:
    spanjury("metrics", "score", "texts.jsonl", "--metric", "f1", "-o", "m.jsonl")
    done = spanjury("compare", "m.jsonl", "m.jsonl", "--fail-on-worse", code=1)
    assert "m.jsonl has no decisions, which --fail-on-worse compares" in done.stderr


def test_a_comparison_says_that_the_judges_are_not_the_same(
    judged: list[dict[str, object]],
) -> None:
    warning = "a.jsonl and b.jsonl were not scored by the same judges"
    for signature, is_warned in ((judged[0]["signature"], False), ("panel|other", True)):
        write("b.jsonl", [{**row, "signature": signature} for row in judged])
        shown = " ".join(spanjury("compare", "a.jsonl", "b.jsonl").stdout.split())
        assert (warning in shown) == is_warned


def test_runs_without_a_scorer_in_common_cannot_be_compared() -> None:
    spanjury("metrics", "score", "texts.jsonl", "--metric", "f1", "-o", "a.jsonl")
    spanjury("metrics", "score", "texts.jsonl", "--metric", "wer", "-o", "b.jsonl")
    done = spanjury("compare", "a.jsonl", "b.jsonl", code=1)
    assert "have no score in common: scores are matched by judge, aspect" in done.stderr


def test_a_file_of_scores_that_is_cut_short_is_refused() -> None:
    spanjury("metrics", "score", "texts.jsonl", "--metric", "f1", "-o", "m.jsonl")
    whole = Path("m.jsonl").read_text().splitlines()
    Path("m.jsonl").write_text("\n".join(whole[:-1]))
    done = spanjury("meta", "m.jsonl", "--human", "texts.jsonl", code=1)
    assert "cut short: it has 19 of 20 rows" in done.stderr


GAPS = """
class Gaps:
    signature = "gaps|1"

    def score_segments(self, samples):
        return [float("nan"), *(2.0 for _ in samples[1:])]
"""
CARD = """
title = "Gaps"
category = "statistics"
summary = "A score with a gap."
formula = "none"
low = 0.0
high = 1.0
direction = "neither"
levels = ["segment"]
references = "none"
paper = "none"
library = "none"
licence = "none"
limits = "none"
empty = "none"
runs = "python"
"""


def test_undefined_scores_are_no_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gappy.py").write_text(GAPS)
    (tmp_path / "gappy_cards").mkdir()
    (tmp_path / "gappy_cards" / "__init__.py").touch()
    (tmp_path / "gappy_cards" / "gaps.toml").write_text(CARD)
    info = tmp_path / "gappy-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gappy\nVersion: 1\n")
    points = "[spanjury.metrics]\ngaps = gappy:Gaps\n[spanjury.metric_cards]\ngaps = gappy_cards\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    done = spanjury("metrics", "score", "texts.jsonl", "--metric", "gaps")
    assert "nan" not in done.stdout
    assert "gaps is undefined for 1 of 20 texts" in done.stderr
    assert "gaps is not within 0 to 1, as its card says, for 19 of 20 texts" in done.stderr
    printed = spanjury("metrics", "score", "texts.jsonl", "--metric", "gaps", "--json").stdout
    assert json.loads(printed)["metrics"][0]["score"] is None


def test_a_metric_is_a_judge_of_a_panel() -> None:
    flags = ("--task", "summarization", "--aspect", "consistency", "--no-memory", "--json")
    done = spanjury("evaluate", "texts.jsonl", *flags, "--judge", "f1", "--judge", "grounding")
    first = json.loads(done.stdout.splitlines()[0])
    assert {seat["judge"]: seat["score"] for seat in first["seats"]}["f1"] == 5.0
    refused = spanjury("evaluate", "texts.jsonl", *flags, "--judge", "density", code=2)
    assert "cannot be a judge" in refused.stderr
    assert not math.isnan(first["score"])


def test_systems_of_one_input_do_not_narrow_the_interval() -> None:
    """Without inputs and documents, rows of several systems under one id are of one input."""
    rows = [{**row(n, n % 5), "id": f"t{n}", "inputs": {}, "doc_id": None} for n in range(20)]
    intervals = []
    for systems in (1, 10):
        copies = [{**each, "system": f"s{n}"} for n in range(systems) for each in rows]
        Path("copies.jsonl").write_text("\n".join(map(json.dumps, copies)))
        done = spanjury("metrics", "score", "copies.jsonl", "--metric", "wer", "--json")
        intervals.append(json.loads(done.stdout)["metrics"][0]["interval"])
    assert intervals[0] == pytest.approx(intervals[1], abs=0.015)
