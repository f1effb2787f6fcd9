"""`spanjury meta`: from files to tables, a page and pictures."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.command import call, complaint
from fakes.installed import skip_without
from fakes.judges import located
from fakes.result_files import USAGE, result, write_results

from spanjury.judges.core import ErrorSpan, Outcome, PanelReport, Report, Result, SeatReport

OUTPUT = "the cat sat on the mat"
PLACES = ((0, 3), (4, 7), (8, 11))
SEATS = ("ann", "bob")
QUICK = ("--draws", "0", "--no-progress")


def error(place: tuple[int, int]) -> ErrorSpan:
    return located(OUTPUT[slice(*place)], place[0])


def judged(name: str, *, scores: Sequence[float | None], marks: int = 0) -> Result:
    """Return what two seats say; both mark as many words."""
    spans = tuple(error(place) for place in PLACES[:marks])
    seats = tuple(
        SeatReport(seat=seat, signature="s", seconds=1.0, report=_report(score, spans))
        for seat, score in zip(SEATS, scores, strict=True)
    )
    known = [score for score in scores if score is not None]
    panel = PanelReport(score=sum(known) / len(known), signature="p", spans=spans, seats=seats)
    return replace(result(name, system=f"s{int(name) % 4}", aspect="fluency"), report=panel)


def _report(score: float | None, spans: tuple[ErrorSpan, ...]) -> Report:
    if score is None:
        return Report(outcome=Outcome.UNPARSEABLE, reason="no score", usage=USAGE)
    return Report(score=score, spans=spans, usage=USAGE)


def rows(*, gold: bool = True, human: bool = True) -> Iterable[dict[str, object]]:
    """Yield outputs of four systems for four inputs; the better ones have fewer errors."""
    for number in range(16):
        system, document = number % 4, number // 4
        marked = [
            {"start": start, "end": end, "severity": 3, "annotator": who}
            for who in ("eve", "joe")
            for start, end in PLACES[: 3 - system]
        ]
        yield {
            "id": str(number),
            "output": OUTPUT,
            "system": f"s{system}",
            "doc_id": str(document),
            **({"human": {"fluency": float(system + 1)}} if human else {}),
            **({"spans": marked, "annotators": ["eve", "joe"]} if gold else {}),
        }


def folder_with(folder: Path, *, gold: bool = True, human: bool = True) -> None:
    lines = (json.dumps(row) for row in rows(gold=gold, human=human))
    (folder / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines))
    results = [
        judged(
            str(number),
            scores=(number % 4 + 1, None if number == 5 else 4 - number % 4),
            marks=3 - number % 4,
        )
        for number in range(16)
    ]
    write_results(folder / "results.jsonl", results)


def values(folder: Path, *flags: str) -> dict[str, list[dict[str, object]]]:
    done = call(folder, "meta", "results.jsonl", "--human", "rows.jsonl", *QUICK, "--json", *flags)
    loaded: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return loaded


def test_scores_seats_systems_and_spans_are_all_found(tmp_path: Path) -> None:
    folder_with(tmp_path)
    found = values(tmp_path)
    agreements = {one["scorer"]: one["value"] for one in found["agreements"]}
    assert agreements["ann"] == pytest.approx(1)
    assert agreements["bob"] == pytest.approx(-1)
    (seats,) = found["seats"]
    assert seats["seats"] == [*SEATS]
    assert {one["by"] for one in found["systems"]} == {"people", "ann"}
    (spans,) = found["spans"]
    agreement = spans["agreement"]
    assert isinstance(agreement, dict)
    whole = [one for one in agreement["judges"] if not one["group"]]
    assert [one["judge"] for one in whole] == ["panel", *SEATS]
    assert [one["failures"] for one in whole] == [0, 0, 1]
    for one in whole:
        assert (one["figures"]["characters.micro.f1"]["value"], one["gamma"]["gamma"]) == (1, 1)
    (pair,) = found["annotators"]
    assert (pair["first"], pair["second"], pair["texts"]) == ("eve", "joe", 16)


def test_texts_that_people_rate_highest_are_compared_without_gold_spans(tmp_path: Path) -> None:
    folder_with(tmp_path, gold=False)
    found = values(tmp_path)
    (spans,) = found["spans"]
    assert (spans["agreement"], spans["best"]) == (None, 4.0)
    top_rated = spans["top_rated"]
    assert isinstance(top_rated, list)
    assert [one["flawless"] for one in top_rated] == [4, 4, 4]
    assert ([one["erring"]["value"] for one in top_rated], found["annotators"]) == ([0, 0, 0], [])
    drawn = values(tmp_path, "--draws", "50")["spans"][0]["top_rated"]
    assert isinstance(drawn, list)
    assert [0 < one["erring"]["high"] < 1 for one in drawn] == [True] * 3


def test_gold_spans_are_enough_without_any_score(tmp_path: Path) -> None:
    folder_with(tmp_path, human=False)
    found = values(tmp_path)
    assert (found["agreements"], len(found["spans"])) == ([], 1)


def test_tables_are_short_and_pages_and_pictures_are_kept(tmp_path: Path) -> None:
    folder_with(tmp_path)
    done = call(
        tmp_path, "meta", "results.jsonl", "--human", "rows.jsonl", *QUICK, "--output", "out"
    )
    for heading in ("scorer", "Seats of a panel", "Spans of fluency", "People with people"):
        assert heading in done.stdout
    page = (tmp_path / "out" / "meta.md").read_text()
    for heading in ("# Agreement with people", "# Seats", "# Systems", "# Error spans"):
        assert heading in page
    assert json.loads((tmp_path / "out" / "meta.json").read_text()) == values(tmp_path)
    html = (tmp_path / "out" / "meta.html").read_text()
    assert "People with people" in html
    drawn = {f"pictures/{path.name}" for path in (tmp_path / "out/pictures").glob("*.png")}
    shown = {line.split("](")[1].rstrip(")") for line in page.splitlines() if line[:2] == "!["}
    assert (drawn, html.count("data:image/png;base64,")) == (shown, len(drawn))
    skip_without("matplotlib")
    assert {path.stem for path in (tmp_path / "out/pictures").glob("*.svg")} == {
        "agreement",
        "cost-seconds",
        "cost-tokens",
        "ensembles-fluency",
        "ranking-fluency-people",
        "ranking-fluency-scorer",
        "scatter-fluency-1",
        "scatter-fluency-2",
        "seats-fluency-1",
    }


def test_texts_of_too_few_systems_for_an_input_are_pooled_with_a_caution(tmp_path: Path) -> None:
    folder_with(tmp_path)
    caution = "no input has rated texts of three systems, so correlations are over all texts"
    found = values(tmp_path)
    assert found["settings"]["level"] == "by-input"  # type: ignore[call-overload]  # settings are no list
    assert not found["notes"]
    lines = [json.dumps({**row, "doc_id": str(row["id"])}) for row in rows()]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    found = values(tmp_path)
    assert {one["scorer"]: one["items"] for one in found["agreements"]}["ann"] == 16
    assert {one["scorer"]: one["value"] for one in found["agreements"]}["ann"] == pytest.approx(1)
    assert str(found["notes"][0]).startswith(caution)
    asked = values(tmp_path, "--level", "by-input")
    assert not asked["notes"]
    assert asked["agreements"][0]["value"] is None
    people = ("--human", "rows.jsonl", *QUICK)
    assert caution in " ".join(call(tmp_path, "meta", "results.jsonl", *people).stdout.split())


def test_two_runs_with_the_same_judges_get_different_names(tmp_path: Path) -> None:
    folder_with(tmp_path)
    (tmp_path / "second.jsonl").write_bytes((tmp_path / "results.jsonl").read_bytes())
    found = values(tmp_path, "--", "second.jsonl")
    names = {one["scorer"] for one in found["agreements"]}
    assert {"ann (results)", "ann (second)", "panel (second)"} <= names
    assert [one["run"] for one in found["seats"]] == ["results.jsonl", "second.jsonl"]


def test_runs_in_folders_of_one_name_are_named_by_their_paths(tmp_path: Path) -> None:
    folder_with(tmp_path)
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "run.jsonl").write_bytes((tmp_path / "results.jsonl").read_bytes())
    found = values(tmp_path, "--", "a/run.jsonl", "b/run.jsonl")
    assert {"ann (a/run.jsonl)", "ann (b/run.jsonl)"} <= {
        one["scorer"] for one in found["agreements"]
    }


@pytest.mark.parametrize(
    ("row", "flags", "code", "problem"),
    [
        ({}, (), 1, "no row has people's scores or error spans"),
        ({"id": "z", "human": {"style": 1.0}}, (), 1, "no score is of a row and an aspect"),
        ({"id": "z", "human": {"style": 1.0}}, ("--aspect", "tone"), 2, "they rated style"),
        (
            {"output": "a dog", "spans": [{"start": 0, "end": 1}]},
            (),
            1,
            "'0': the results mark 'the' at 0, where the text with people's annotations has 'a d'",
        ),
    ],
)
def test_incomparable_values_are_refused(
    tmp_path: Path, row: dict[str, object], flags: tuple[str, ...], code: int, problem: str
) -> None:
    folder_with(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "0", "output": "x", **row}) + "\n")
    done = call(
        tmp_path, "meta", "results.jsonl", "--human", "rows.jsonl", *QUICK, *flags, code=code
    )
    assert problem in complaint(done.stderr)


def test_a_judges_categories_are_mapped_to_those_of_people(tmp_path: Path) -> None:
    lines = []
    for row in rows():
        spans = row["spans"]
        assert isinstance(spans, list)
        lines.append(json.dumps({**row, "spans": [{**one, "category": "Word"} for one in spans]}))
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    results = [
        replace(
            one,
            report=replace(
                one.report,
                spans=tuple(replace(span, category="wrong word") for span in one.report.spans),
            ),
        )
        for one in (judged(str(n), scores=(n % 4 + 1, 3), marks=3 - n % 4) for n in range(16))
    ]
    write_results(tmp_path / "results.jsonl", results)
    for flags, hard in (((), 0), (("--category", "Wrong word=word"), 1)):
        agreement = values(tmp_path, *flags)["spans"][0]["agreement"]
        assert isinstance(agreement, dict)
        panel = agreement["judges"][0]
        assert panel["figures"]["characters.micro.f1"]["value"] == 1
        assert panel["figures"]["hard.micro.f1"]["value"] == hard
        assert ("wrong word" in panel["categories"]) == (hard == 0)
    refused = call(
        *(tmp_path, "meta", "results.jsonl", "--human", "rows.jsonl", "--category", "x=Number"),
        code=2,
    )
    assert "they marked Word" in complaint(refused.stderr)


def test_a_correlation_equal_in_few_inputs_is_not_called_certain(tmp_path: Path) -> None:
    folder_with(tmp_path)
    (ann,) = (
        each for each in values(tmp_path, "--draws", "50")["agreements"] if each["scorer"] == "ann"
    )
    assert (ann["value"], ann["high"]) == pytest.approx((1.0, 1.0))
    assert ann["low"] == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 4)))  # 4 inputs


def test_a_correlation_of_systems_equal_in_every_draw_is_noted(tmp_path: Path) -> None:
    folder_with(tmp_path)
    flags = ("--human", "rows.jsonl", "--level", "system", "--draws", "50", "--no-progress")
    printed = " ".join(call(tmp_path, "meta", "results.jsonl", *flags).stdout.split())
    assert "the correlation is equal in every draw, so it has no interval: ann" in printed
    assert "[1.000, 1.000]" not in printed


def test_people_in_the_data_of_a_run_are_read_by_its_columns(tmp_path: Path) -> None:
    lines = [
        f"{number},s{number % 2},{'The mast is 28 m.' if number % 3 else 'The mast is 91 m.'},"
        f"The mast is 28 m high.,{1 + 4 * bool(number % 3)}"
        for number in range(12)
    ]
    (tmp_path / "two.csv").write_text("\n".join(["key,system,text,doc,rating", *lines]))
    (tmp_path / "other.csv").write_text((tmp_path / "two.csv").read_text())
    columns = ("--column", "output=text", "--column", "inputs.Article=doc", "--column", "id=key")
    judge = ("--judge", "grounding", "--aspect", "consistency", "--show", "none")
    call(tmp_path, "evaluate", "two.csv", *judge, *columns, "--run-dir", "run")
    rated = ("--human", "two.csv", "--column", "human.consistency=rating")
    done = call(tmp_path, "meta", "run", *rated, *QUICK, "--level", "pooled", "--json")
    (panel,) = (
        each for each in json.loads(done.stdout)["agreements"] if each["scorer"] == "grounding"
    )
    assert panel["value"] == pytest.approx(1)
    assert json.loads(call(tmp_path, "rank", "run", *rated, "--json").stdout)["people"] == "two.csv"
    elsewhere = ("--human", "other.csv", *rated[2:])
    refused = call(tmp_path, "meta", "run", *elsewhere, *QUICK, code=1)
    assert "--column" in complaint(refused.stderr)
