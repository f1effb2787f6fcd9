"""Two runs, or two systems of one, beside each other in a browser."""

from pathlib import Path

from fakes.view_data import ViewData, result, span, text
from fakes.view_samples import two_runs
from loopback.browser import Chromium, sideways
from loopback.view_server import ViewServer, served
from playwright.sync_api import expect

SOURCE = {"Article": "The cat sat."}


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


def test_the_list_sorts_both_scores_by_difference(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, two_runs())) as page:
        expect(page.locator(".option")).to_have_text(
            [
                "ferry/bart+0.75bart2.50→3.25",
                "ferry/t5t5reply unreadable→4.50",
                "mixed0.00bart3.50→3.50",
                "hebrewt51.50→not in this run",
                "clean0.00bart5.00→5.00",
            ]
        )
        expect(page.locator(".mean-line")).to_have_text(
            "consistency3.134 of 5 scored4.064 of 4 scored"
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
        expect(page.locator(".option")).to_have_text("b1−1.005.00→4.00")
        expect(page.locator("#comparison")).to_contain_text("This file has no confidence intervals")


def test_a_server_is_asked_for_the_comparison(chromium: Chromium) -> None:
    server = ViewServer(data=two_systems())
    with served(server) as address, chromium.open(address) as page:
        page.get_by_role("button", name="Compare two systems").click()
        expect(page.locator("#comparison")).to_contain_text("−1.00 to +3.00")
        expect(page.locator("#comparison")).to_contain_text("of a bootstrap")
        assert server.asked.count("comparison") == 1
