"""The rows of a view in a browser: read, filtered, sorted, searched and walked."""

from pathlib import Path

import pytest
from fakes.view_data import Json, ViewData, result, seat
from fakes.view_samples import many_rows, one_run, texts
from loopback.browser import Chromium, sideways
from loopback.view_server import TOKEN, ViewServer, served
from playwright.sync_api import Page, expect


def written(folder: Path, data: ViewData) -> Path:
    path = folder / "page.html"
    path.write_text(data.page(), encoding="utf-8")
    return path


def ids(page: Page) -> list[str]:
    expect(page.locator("body[data-ready=true]")).to_have_count(1)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator(".option .id").all_text_contents()


def choice(page: Page, facet: str, value: str) -> None:
    group = page.locator("fieldset", has=page.locator("legend", has_text=facet))
    group.get_by_role("checkbox", name=value).click()


def judged(row_id: str, decision: str | None, probability: float | None = None) -> Json:
    return result(row_id, decision=decision, error_probability=probability)


def test_a_page_opens_on_the_worst_text_of_those_read_unless_its_address_names_another(
    chromium: Chromium,
) -> None:
    row_1, row_2 = judged("ok", "ok", 0.4), judged("unsure", "unsure", 1.0)
    row_3, row_4 = judged("none", None), judged("faulty", "faulty")
    row_5, row_6 = judged("worst", "faulty", 0.9), judged("equal", "faulty", 0.9)
    rows = [row_1, row_2, row_3, row_4, row_5, row_6, judged("best", "ok", 0.1)]
    server = ViewServer(data=ViewData(texts=[], runs=[rows]), rows_at_once=2)
    with served(server) as address, chromium.open(address) as page:
        assert ids(page) == ["worst", "equal", "faulty", "unsure", "ok", "best", "none"]
        expect(page.locator("#row h2")).to_have_text("worst")
        page.get_by_label("Sort rows by").select_option("file")
        assert ids(page) == [row["id"] for row in rows]
        expect(page.locator("#row h2")).to_have_text("worst")
        page.goto("about:blank")
        page.goto(f"{address}&row=2")
        ids(page)
        expect(page.locator("#row h2")).to_have_text("none")


def test_a_file_shows_its_rows_and_the_first_of_them(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        assert ids(page) == ["ferry/bart", "hebrew", "clean", "ferry/t5", "mixed"]
        expect(page.locator("#row h2")).to_have_text("ferry/bart")
        expect(page.locator(".mean-line")).to_have_text("consistency3.13 scored 4 of 5")
        expect(page.locator("#count")).to_have_text("5 rows")
        assert sideways(page) == 0
        assert page.evaluate("Object.keys(globalThis).filter((name) => name === 'state')") == []


def test_figures_and_reasons_are_written_as_in_the_terminal(
    chromium: Chromium, tmp_path: Path
) -> None:
    data = one_run()
    row = data.rows[0]
    basis = {"ground": "probability", "reason": "Cannot tell.", "threshold": None}
    reason = "3 of its 4 content words do not occur in the source."
    sentence = {"text": "It sank.", "probability": 0.6, "reason": reason, "words": ["it", "sank"]}
    row |= {
        "decision": "unsure",
        "decision_basis": basis | {"false_alarms": 0.025, "spread": [0.005, 0.085]},
        "unverified": [sentence],
    }
    with chromium.open(written(tmp_path, data)) as page:
        # Python's round(8.5) is 8, and JavaScript's 9.
        expect(page.locator(".false-alarms summary")).to_contain_text("false alarms: 2% (0–8%,")
        expect(page.locator(".unverified .why")).to_contain_text("in the source: it, sank P(error)")


def test_a_mean_is_of_the_rows_that_pass_with_coverage(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        choice(page, "System", "t5")
        assert ids(page) == ["hebrew", "ferry/t5"]
        expect(page.locator(".mean-line")).to_have_text("consistency1.50 scored 1 of 2")
        expect(page.locator("#count")).to_have_text("2 of 5 rows")


def test_a_count_says_what_a_filter_would_leave(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        choice(page, "System", "t5")
        systems = page.locator("fieldset", has=page.locator("legend", has_text="System"))
        assert sorted(systems.locator(".value").all_text_contents()) == ["bart3", "t52"]
        decisions = page.locator("fieldset", has=page.locator("legend", has_text="Decision"))
        assert decisions.locator(".value").all_text_contents() == ["unsure1"]


@pytest.mark.parametrize(
    ("facet", "value", "left"),
    [
        ("Outcome", "reply unreadable", ["ferry/t5"]),
        ("Decision", "faulty", ["ferry/bart"]),
        ("Category of a span", "number", ["ferry/bart", "mixed"]),
        ("Seat that marked a span", "c", ["ferry/bart"]),
    ],
)
def test_rows_are_filtered_by_a_value(
    chromium: Chromium, tmp_path: Path, facet: str, value: str, left: list[str]
) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        choice(page, facet, value)
        assert ids(page) == left
        page.get_by_role("button", name="Clear all").click()
        assert len(ids(page)) == 5


def test_a_bar_of_a_histogram_is_a_filter(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        page.get_by_role("button", name="Score 3.5 to 4: 1 row").click()
        assert ids(page) == ["mixed"]
        page.get_by_role("button", name="Score 3.5 to 4: 1 row").click()
        page.get_by_role("button", name="at least 4: 1 row").click()
        assert ids(page) == ["ferry/bart", "hebrew", "mixed"]
        page.get_by_role("button", name="at least 4: 1 row").click()
        assert len(ids(page)) == 5
        page.get_by_role("button", name="Disagreement of seats up to 3.5: 1 row").click()
        assert ids(page) == ["ferry/bart"]


@pytest.mark.parametrize(
    ("by", "first"),
    [
        ("score", ["hebrew", "ferry/bart", "mixed", "clean", "ferry/t5"]),
        ("spans", ["ferry/bart", "mixed", "hebrew", "ferry/t5", "clean"]),
        ("severity", ["ferry/bart", "hebrew", "mixed", "ferry/t5", "clean"]),
        ("outcome", ["ferry/t5", "ferry/bart", "mixed", "hebrew", "clean"]),
        ("disagreement", ["ferry/bart", "ferry/t5", "mixed", "hebrew", "clean"]),
    ],
)
def test_rows_are_sorted(chromium: Chromium, tmp_path: Path, by: str, first: list[str]) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        page.get_by_label("Sort rows by").select_option(by)
        assert ids(page) == first


def test_rows_without_a_value_are_last_in_either_order(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        page.get_by_label("Sort rows by").select_option("score")
        page.get_by_role("button", name="Reverse the order").click()
        assert ids(page) == ["clean", "mixed", "ferry/bart", "hebrew", "ferry/t5"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("HEBREW", ["hebrew"]),
        ("drunk", ["ferry/bart"]),
        ("no mate is", ["ferry/bart"]),
        ("עולם", ["mixed"]),
    ],
)
def test_a_file_is_searched_in_all_its_parts(
    chromium: Chromium, tmp_path: Path, text: str, found: list[str]
) -> None:
    run = one_run()
    data = ViewData(texts=run.texts, runs=run.runs, names=run.names, part=2)
    with chromium.open(written(tmp_path, data)) as page:
        page.keyboard.press("/")
        page.keyboard.type(text)
        expect(page.locator(".option")).to_have_count(1)
        assert ids(page) == found


def test_choice_and_filters_survive_a_reload(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        choice(page, "System", "t5")
        page.get_by_label("Sort rows by").select_option("score")
        page.get_by_role("option", name="ferry/t5").click()
        page.reload()
        assert ids(page) == ["hebrew", "ferry/t5"]
        expect(page.locator("#row h2")).to_have_text("ferry/t5")


def test_j_and_k_walk_the_rows_that_pass(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        ids(page)
        for _ in range(4):
            page.keyboard.press("j")
        expect(page.locator("#row h2")).to_have_text("mixed")
        page.keyboard.press("k")
        expect(page.locator("#row h2")).to_have_text("ferry/t5")
        expect(page.locator(".failure")).to_contain_text("No score: reply unreadable")
        expect(page.locator(".failure pre")).to_contain_text("<b>fine</b>")


def test_5000_rows_scroll_as_ten_do(chromium: Chromium, tmp_path: Path) -> None:
    path = written(tmp_path, many_rows(5000))
    assert path.stat().st_size < 10_000_000
    with chromium.open(path) as page:
        assert len(ids(page)) < 40
        page.locator("#list").focus()
        page.keyboard.press("End")
        expect(page.locator("#row h2")).to_have_text("text-04999")
        assert "text-04999" in ids(page)
        page.get_by_role("button", name="Score 1 to 1.5").click()
        expect(page.locator("#count")).to_have_text("556 of 5,000 rows")
        page.keyboard.press("/")
        page.keyboard.type("text-00009")
        expect(page.locator("#count")).to_have_text("1 of 5,000 rows")


def test_a_narrow_page_shows_the_rows_then_the_row(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run()), width=390, height=844) as page:
        ids(page)
        assert sideways(page) == 0
        expect(page.locator("#row")).to_be_hidden()
        page.get_by_role("option", name="ferry/bart").click()
        expect(page.locator("#row h2")).to_be_visible()
        assert sideways(page) == 0
        page.get_by_role("button", name="Back to the rows").click()
        page.get_by_role("button", name="Filters").click()
        choice(page, "System", "t5")
        page.get_by_role("button", name="Done").click()
        assert ids(page) == ["hebrew", "ferry/t5"]
        assert sideways(page) == 0


def test_back_leads_from_a_row_to_the_rows_on_a_phone(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run()), width=390, height=844) as page:
        ids(page)
        page.get_by_role("option", name="mixed").click()
        expect(page.locator("#row h2")).to_have_text("mixed")
        page.go_back()
        expect(page.locator("#list")).to_be_visible()
        expect(page.locator("#row")).to_be_hidden()


def test_a_row_that_filters_took_away_stays_and_says_so(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        ids(page)
        expect(page.locator(".steps .place")).to_have_text("1 of 5")
        choice(page, "System", "t5")
        expect(page.locator("#row h2")).to_have_text("ferry/bart")
        expect(page.locator(".steps .place")).to_have_text("not among the filtered")
        page.locator("#row").focus()
        page.keyboard.press("j")
        expect(page.locator(".steps .place")).to_have_text("1 of 2")


def test_every_control_has_a_name_and_every_part_a_mark(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        ids(page)
        page.keyboard.press("n")
        nameless = page.locator("button, select, input").evaluate_all(
            "(all) => all.filter((one) => !(one.textContent.trim() || one.ariaLabel"
            " || one.labels?.length)).map((one) => one.outerHTML)"
        )
        assert nameless == []
        doubled = (
            "(all) => all.map((one) => one.id).filter((id, at, ids) => ids.indexOf(id) !== at)"
        )
        assert page.locator("[id]").evaluate_all(doubled) == []
        for role in ("banner", "main", "navigation", "listbox"):
            expect(page.get_by_role(role)).to_have_count(1)
        expect(page.locator("#list [aria-selected=true]")).to_have_text(
            "ferry/bart2.50bart6 spansfaulty"
        )
        active = page.locator("#list").get_attribute("aria-activedescendant")
        assert active == "option-0"


def test_columns_come_in_parts_and_the_first_rows_are_there_at_once(chromium: Chromium) -> None:
    server = ViewServer(data=many_rows(300), rows_at_once=100)
    with served(server) as address, chromium.open(address) as page:
        ids(page)
        assert server.asked.count("columns") == 3
        expect(page.locator("#count")).to_have_text("300 rows")
        expect(page.locator("#row h2")).to_have_text("text-00000")
        page.keyboard.press("/")
        page.keyboard.type("text-00123")
        expect(page.locator("#count")).to_have_text("1 of 300 rows")
        page.keyboard.press("Escape")
        assert page.evaluate("location.hash").startswith(f"#{TOKEN}&text=text-00123")


def test_prompts_and_replies_are_fetched_when_their_fold_is_opened(chromium: Chromium) -> None:
    server = ViewServer(data=one_run())
    with served(server) as address, chromium.open(address) as page:
        ids(page)
        assert "asked" not in server.asked
        page.get_by_text("Prompts and replies").click()
        expect(page.locator(".asked")).to_contain_text("Judge row 0 <b>well</b>.")
        expect(page.locator(".asked .is-reply")).to_contain_text("It is good.")


def test_an_error_is_shown_and_can_be_retried(chromium: Chromium) -> None:
    server = ViewServer(data=one_run(), faults={"rows": (400, "results were written again")})
    with served(server) as address, chromium.open(address, complaints=["400"]) as page:
        expect(page.locator("#trouble")).to_contain_text("results were written again")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#row h2")).to_have_text("ferry/bart")
        expect(page.locator("#trouble")).to_be_hidden()


def test_a_wrong_token_is_reported(chromium: Chromium) -> None:
    with served(ViewServer(data=one_run())) as address:
        wrong = address.replace(TOKEN, "another")
        with chromium.open(wrong, complaints=["401"]) as page:
            expect(page.locator("#trouble")).to_contain_text("rejects the token in this address")


def test_a_server_that_is_gone_is_reported(chromium: Chromium) -> None:
    serving = served(ViewServer(data=many_rows(300)))
    with chromium.open(serving.__enter__(), complaints=["ERR_CONNECTION"]) as page:
        ids(page)
        serving.__exit__(None, None, None)
        page.locator("#list").focus()
        page.keyboard.press("End")
        expect(page.locator("#trouble")).to_contain_text("The server does not answer")


def test_every_kind_of_empty_page_says_why(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, ViewData(texts=[], runs=[[]]))) as page:
        expect(page.locator("#list")).to_have_text("The run has no row.")
        expect(page.locator("#row")).to_have_text("Nothing to show: the run has no row.")
    one = ViewData(texts=[], runs=[[result("only")]], changes={"notes": ["texts are not there"]})
    with chromium.open(written(tmp_path, one)) as page:
        expect(page.locator("#notes")).to_have_text("texts are not there")
        expect(page.locator("#count")).to_have_text("1 row")
        expect(page.locator("#row")).to_contain_text("The text of this row is not in the page")
        expect(page.locator("#row")).to_contain_text("No seat marked a span")
    refused = result("x", score=None, outcome="refused", seats=[seat("a", None)], reason="No.")
    with chromium.open(written(tmp_path, ViewData(texts=texts(), runs=[[refused]]))) as page:
        expect(page.locator("#count")).to_contain_text(
            "none has a score; each row gives its reason"
        )
        expect(page.locator(".mean-line")).to_contain_text("no score scored 0 of 1")
        expect(page.locator(".failure")).to_have_text("No score: refusedNo.")
