"""Two runs, two systems, trajectories and lists of runs, each in a real browser."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes.command import call, start
from fakes.view_data import ViewData, result, seat, span, text
from fakes.view_samples import two_runs
from fakes.viewed_runs import judge, results, write_rows
from loopback.browser import Chromium, contrast, sideways
from loopback.view_server import ViewServer, served
from playwright.sync_api import Page, expect

from spanjury.adapters.files.reading.trajectories import as_trajectory
from spanjury.judges.core.transcript import segment_of
from spanjury.orchestration.services.viewing.details import turns_of

SOURCE = {"Article": "The cat sat."}
NOTE = "Bring the blue folder, the keys to the archive and a lamp with fresh batteries."
SEGMENT = segment_of(
    as_trajectory(
        [
            {"role": "user", "content": "Remind Zoë on 4 May 🗓 of the inventory."},
            {
                "role": "assistant",
                "content": "I note it.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "name": "remind",
                        "args": {"who": "Zoë 🗓", "dates": ["2026-05-05"], "note": NOTE},
                    }
                ],
            },
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": "The clock is off.",
                "is_error": True,
            },
            {"role": "assistant", "content": "I have set the reminder."},
        ],
        [{"name": "remind"}],
    )
)
HOSTILE = "<img src=x onerror=alert(1)> & 'quoted'"
OPENING = 30_000


def written(folder: Path, data: ViewData) -> Path:
    path = folder / "page.html"
    path.write_text(data.page(), encoding="utf-8")
    return path


def two_systems() -> ViewData:
    """Return three systems on two inputs; the third has one of them only."""
    outputs = {"a1": "The dog sat.", "b1": "The cat sat.", "a2": "It ran.", "b2": "It ran far."}
    outputs["c1"] = "A cat sat."
    texts, rows = [], []
    for name, out in outputs.items():
        inputs = SOURCE if name.endswith("1") else {"Article": "It ran home."}
        spans = [span(out, "dog", severity=4)] if "dog" in out else []
        texts.append(text(name, out, inputs=inputs, system=name[0]))
        score = {"a1": 2.0, "b1": 5.0, "a2": 4.5, "b2": 3.5, "c1": 4.0}[name]
        rows.append(result(name, score=score, spans=spans, system=name[0]))
    row = {"aspect": "consistency", "texts": 2, "first": 3.25, "second": 4.25}
    compared = {"first": "system:a", "second": "system:b", "note": "of a bootstrap"}
    compared["rows"] = [{**row, "difference": 1.0, "low": -1.0, "high": 3.0}]  # type: ignore[assignment]  # JSON
    return ViewData(texts=texts, runs=[rows], comparisons=[compared])


def test_spans_of_two_runs_differ_by_fill_in_one_text(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_runs())) as page:
        pieces = page.locator(".text .piece")
        expect(pieces).to_have_text(
            [
                *("ferry Halvard", "sank off Sund ", "on ", "Monday", " with 48 people"),
                "the captain was drunk",
            ]
        )
        tones = pieces.evaluate_all("(all) => all.map((one) => one.dataset.tone)")
        assert tones == ["second", "both", "both", "both", "both", "first"]
        expect(page.locator(".difference")).to_have_text("Second minus first: +0.75")
        expect(page.locator(".verdict")).to_have_count(2)
        pieces.first.hover()
        expect(page.locator("#card")).to_contain_text("only in panel-b")


def test_the_same_place_in_both_runs_is_one_span(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_runs())) as page:
        page.get_by_role("option", name="mixed").click()
        expect(page.locator(".findings h3")).to_have_text("3 spans")
        expect(page.locator(".finding").first).to_contain_text("in both panel-apanel-b")


def test_two_runs_that_judged_different_texts_show_both(chromium: Chromium, tmp_path: Path) -> None:
    before, after = "The cat sat.", "The dog sat."
    evidence = [{"input": "Article", "start": 4, "end": 7, "text": "cat"}]
    spans = [span(after, "dog", severity=4, evidence=evidence)]
    data = ViewData(
        texts=[text("a", before, inputs=SOURCE)],
        runs=[[result("a", score=5.0)], [result("a", score=2.0, spans=spans)]],
        second_texts={"a": text("a", after, inputs=SOURCE)},
    )
    with chromium.open(written(tmp_path, data)) as page:
        expect(page.locator(".two-texts .text")).to_have_text([before, after])
        expect(page.locator(".two-texts .side-name")).to_have_text(["first", "second"])
        expect(page.locator(".side").nth(1).locator(".piece")).to_have_text("dog")
        expect(page.locator(".input-text")).to_have_text(["The cat sat."])
        page.get_by_role("searchbox").fill("the dog")
        expect(page.locator(".option .id")).to_have_text(["a"])


def test_two_runs_with_different_sources_show_each_text_above_its_own(
    chromium: Chromium, tmp_path: Path
) -> None:
    other = {"Article": "A dog sat."}
    data = ViewData(
        texts=[text("a", "The cat sat.", inputs=SOURCE)],
        runs=[[result("a")], [result("a")]],
        second_texts={"a": text("a", "The cat sat.", inputs=other)},
    )
    with chromium.open(written(tmp_path, data)) as page:
        inputs = page.locator(".two-texts .side .input-text")
        expect(inputs).to_have_text(["The cat sat.", "A dog sat."])


def test_the_list_sorts_both_scores_by_difference(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_runs())) as page:
        expect(page.locator(".option")).to_have_text(
            [
                "ferry/bart+0.75bart2.50→3.25",
                "hebrewt51.50→not in this run",
                "clean0.00bart5.00→5.00",
                "ferry/t5t5reply unreadable→4.50",
                "mixed0.00bart3.50→3.50",
            ]
        )
        expect(page.locator(".mean-line")).to_have_text(
            "consistency3.13 4 of 5 scored4.06 4 of 4 scored"
        )
        page.get_by_label("Sort rows by").select_option("difference")
        expect(page.locator(".option .id").first).to_have_text("ferry/bart")
        page.get_by_label("Filter by the results of").select_option("1")
        page.get_by_role("checkbox", name="unsure").click()
        expect(page.locator(".option .id")).to_have_text(["ferry/bart"])


def test_the_comparison_has_its_interval(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_runs())) as page:
        cells = page.locator("#comparison tbody").locator("th, td")
        expect(cells).to_have_text(
            ["consistency", "3", "3.67", "3.92", "+0.25", "−0.10 to +0.75", ""]
        )


def test_a_row_that_one_run_lacks_says_so(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_runs())) as page:
        page.get_by_role("option", name="hebrew").click()
        expect(page.locator(".verdict").last).to_contain_text("This run does not have the row.")
        expect(page.locator(".text .piece")).to_have_count(2)


def test_two_systems_are_paired_by_their_inputs(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_systems())) as page:
        page.get_by_role("button", name="Compare two systems").click()
        expect(page.locator(".option")).to_have_text(["a1+3.002.00→5.00", "a2−1.004.50→3.50"])
        expect(page.locator("#count")).to_have_text("2 pairs")
        expect(page.locator(".two-texts .text")).to_have_text(["The dog sat.", "The cat sat."])
        expect(page.locator(".input-text")).to_have_text("The cat sat.")
        expect(page.locator("#comparison tbody td").nth(3)).to_have_text("+1.00")
        page.reload()
        expect(page.locator(".two-texts .text")).to_have_text(["The dog sat.", "The cat sat."])
        assert sideways(page) == 0
        page.get_by_role("button", name="Stop comparing").click()
        expect(page.locator(".option")).to_have_count(5)


def exam() -> ViewData:
    """Return an exam: two clean texts, and what was made of them, of which one error is caught."""
    outputs = {"a": "The cat sat.", "b": "It ran home."}
    outputs |= {"a#negation": "The cat did not sit.", "b#number": "It ran 9 homes."}
    planted = {"a#negation": "did not", "b#number": "9"}
    texts, rows = [], []
    for name, out in outputs.items():
        clean_id, _, condition = name.partition("#")
        gold = [span(out, planted[name], found_by=["people"])] if condition else []
        spans = [span(out, "did not sit", severity=4)] if name == "a#negation" else []
        texts.append(text(name, out, inputs=SOURCE, gold=gold))
        origin = {"condition": condition or "clean", "clean_id": clean_id if condition else ""}
        caught = {"a#negation": 2, "b#number": 0}.get(name)
        score = 2.0 if spans else 5.0
        rows.append(result(name, score=score, spans=spans, caught=caught, **origin))
    return ViewData(texts=texts, runs=[rows])


def test_an_exam_shows_changed_texts_beside_their_originals(
    chromium: Chromium, tmp_path: Path
) -> None:
    with chromium.open(written(tmp_path, exam())) as page:
        expect(page.locator(".option")).to_have_text(
            ["a−3.00negation5.00→2.00", "b0.00number5.00→5.00"]
        )
        expect(page.locator(".two-texts .text")).to_have_text(
            ["The cat sat.", "The cat did not sit."]
        )
        expect(page.locator(".difference")).to_have_text("Changed minus original: −3.00")
        page.get_by_role("checkbox", name="missed").click()
        page.get_by_role("option", name="b").click()
        expect(page.locator(".two-texts .side").last.locator(".piece")).to_have_text("9")
        expect(page.get_by_role("button", name="Hide 1 planted span")).to_be_visible()
        page.get_by_role("button", name="Hide the originals").click()
        page.get_by_role("button", name="Clear all").click()
        expect(page.locator(".option")).to_have_count(4)
        page.reload()
        expect(page.get_by_role("button", name="Show the originals beside")).to_be_visible()


def test_scores_of_two_runs_stand_in_one_line_on_a_phone(
    chromium: Chromium, tmp_path: Path
) -> None:
    with chromium.open(written(tmp_path, two_runs()), width=390, height=844) as page:
        expect(page.locator(".option")).to_have_count(5)
        heights = page.locator(".scores").evaluate_all("(all) => all.map((e) => e.offsetHeight)")
        assert max(heights) < 27  # half of a row of the list
        assert page.locator("#about-line").evaluate("(element) => element.offsetHeight") < 60


def test_systems_the_other_way_round_have_other_signs(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_systems())) as page:
        page.get_by_role("button", name="Compare two systems").click()
        page.get_by_label("First system").select_option("b")
        page.get_by_label("Second system").select_option("a")
        cells = page.locator("#comparison tbody").locator("th, td")
        expect(cells).to_have_text(
            ["consistency", "2", "4.25", "3.25", "−1.00", "−3.00 to +1.00", ""]
        )
        page.get_by_label("Second system").select_option("c")
        expect(page.locator(".option")).to_have_text(["b1−1.005.00→4.00"])
        expect(page.locator("#comparison")).to_contain_text("This file has no confidence intervals")


def test_a_server_is_asked_for_the_comparison(chromium: Chromium) -> None:
    server = ViewServer(data=two_systems())
    with served(server) as address, chromium.open(address) as page:
        page.get_by_role("button", name="Compare two systems").click()
        expect(page.locator("#comparison")).to_contain_text("−1.00 to +3.00")
        expect(page.locator("#comparison")).to_contain_text("of a bootstrap")
        assert server.asked.count("comparison") == 1


def page_of(folder: Path) -> Path:
    output = SEGMENT.output
    header, quote = "Result [3]", "clock is off"
    given = SEGMENT.inputs[header]
    start = given.index(quote)
    evidence = {"input": header, "start": start, "end": start + len(quote), "text": quote}
    wrong = span(output, "2026-05-05", at={"turn": 2, "call": 1, "path": "$.dates[0]"})
    claim = span(output, "have set", evidence=[evidence], severity=5)
    row = result("one", spans=[wrong, claim], seats=[seat("a", spans=[wrong, claim])])
    one = text("one", output, inputs=dict(SEGMENT.inputs), **turns_of(SEGMENT))
    path = folder / "page.html"
    path.write_text(ViewData(texts=[one], runs=[[row]]).page(), encoding="utf-8")
    return path


def test_turns_are_shown_in_order_with_marks_on_values(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(page_of(tmp_path)) as page:
        expect(page.locator("body[data-shown]")).to_have_count(1)
        speakers = page.locator(".turn .speaker").all_text_contents()
        assert speakers == ["1User", "2Agent", "3Resultremindfailed", "4Agent"]
        assert page.locator(".call .member .piece").all_text_contents() == ["2026-05-05"]
        own = page.locator(".text").evaluate(
            "(element) => { const own = element.cloneNode(true);"
            " own.querySelectorAll('.given').forEach((each) => each.remove());"
            " return own.textContent; }"
        )
        assert own == SEGMENT.output
        assert page.locator(".input h3").all_text_contents() == ["Tools"]
        page.locator(".call .piece").click()
        expect(page.locator("#card")).to_contain_text("turn 2, call 1, $.dates[0]")
        page.locator(".turn .piece", has_text="have set").click()
        page.locator("#card .evidence").click()
        lit = page.locator(".turn[data-turn='3'] mark.place.is-gone-to")
        expect(lit).to_have_text("clock is off")


def test_a_trajectory_fits_a_narrow_page(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(page_of(tmp_path), width=390) as page:
        page.locator(".option").first.click()
        expect(page.locator(".call")).to_be_visible()
        assert sideways(page) == 0


"""Milliseconds that the server may take to read the runs that are opened."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three runs: as judged, with better scores, and under a hostile name."""
    folder = tmp_path_factory.mktemp("listed")
    write_rows(folder / "rows.jsonl")
    first = judge(folder, run="runs/first")
    shutil.copytree(first, folder / "runs/better")
    rows = [{**row, "score": 5, "decision": "ok"} for row in results(first)]
    better = folder / "runs/better/results.jsonl"
    better.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copytree(first, folder / "runs" / HOSTILE)
    return folder


@contextmanager
def served_list(home: Path) -> Iterator[str]:
    process = start(home, "view", "runs", "--no-browser")
    assert process.stderr is not None
    line = process.stderr.readline()
    address = re.search(r"http://\S+", line)
    assert address, line + process.stderr.read()
    try:
        yield address[0]
    finally:
        process.terminate()
        process.communicate()


def names(page: Page) -> list[str]:
    expect(page.locator("body")).to_have_attribute("data-ready", "true")
    return page.locator("td.of-name bdi").all_inner_texts()


def test_runs_are_filtered_sorted_opened_and_compared(chromium: Chromium, home: Path) -> None:
    with served_list(home) as url, chromium.open(url) as page:
        assert set(names(page)) == {"first", "better", HOSTILE}
        page.get_by_role("button", name="mean score").click()
        assert names(page)[0] == "better"
        page.get_by_role("button", name="mean score").click()
        assert names(page)[-1] == "better"
        page.locator("#search").fill("grounding FIRST")
        assert names(page) == ["first"]
        page.get_by_label("Choose first").check()
        page.locator("#search").fill("")
        page.get_by_label("Choose better").check()
        page.get_by_role("link", name="Compare first with better").click()
        expect(page.locator("#title")).to_have_text("first beside better", timeout=OPENING)
        expect(page.locator("body")).to_have_attribute("data-ready", "true", timeout=OPENING)
        page.go_back()
        assert names(page)[-1] == "better"  # as it was left
        expect(page.get_by_label("Choose first")).to_be_checked()
        page.get_by_role("link", name=HOSTILE).click()
        expect(page.locator("#title")).to_have_text(HOSTILE, timeout=OPENING)
        page.get_by_role("link", name="All runs").click()
        assert len(names(page)) == 3
        assert page.locator("img").count() == 0


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_a_file_of_runs_fits_and_gives_the_commands(
    chromium: Chromium, home: Path, width: int, scheme: str
) -> None:
    call(home, "view", "runs", "--html", "runs.html")
    with chromium.open(home / "runs.html", width=width, scheme=scheme) as page:  # type: ignore[arg-type]  # one of the two
        assert len(names(page)) == 3
        page.get_by_label("Choose first").check()
        page.get_by_label(f"Choose {HOSTILE}").check()
        quoted = HOSTILE.replace("'", "'\\''")
        expect(page.locator("#chosen")).to_contain_text(f"spanjury view first '{quoted}'")
        expect(page.locator("#chosen")).to_contain_text(f"spanjury compare first '{quoted}'")
        assert sideways(page) == 0
        for part in ("#count", "#chosen .note", "td.of-score b", "td.of-cost .none"):
            assert contrast(page.locator(part).first) >= 4.5, part
