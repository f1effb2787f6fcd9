"""The texts of a view in a browser: spans, evidence, keys, offsets, contrast, hostile text."""

import re
from pathlib import Path
from typing import Literal

import pytest
from fakes.view_data import Json, ViewData, result, seat, span, text
from fakes.view_samples import HEBREW, MIXED, OVERLAPPING, one_run
from loopback.browser import Chromium, contrast, sideways
from playwright.sync_api import Page, expect

HOSTILE = "</script><script>document.body.dataset.owned = 1</script><img src=x onerror=alert(1)>"
READABLE = 4.5


def written(folder: Path, data: ViewData) -> Path:
    path = folder / "page.html"
    path.write_text(data.page(), encoding="utf-8")
    return path


def of_one(output: str, spans: list[Json], **given: object) -> ViewData:
    row = result("one", spans=spans, seats=[seat("a", spans=spans)])
    return ViewData(texts=[text("one", output, **given)], runs=[[row]])


def pieces(page: Page) -> list[str]:
    expect(page.locator("body[data-shown]")).to_have_count(1)
    return page.locator(".text .piece").all_text_contents()


def shown_text(page: Page) -> str:
    said: str = page.locator(".text").evaluate("(element) => element.textContent")
    return said


def focused(page: Page) -> str:
    said: str = page.evaluate("document.activeElement.textContent")
    return said


def test_overlapping_nested_spans_are_cut_at_borders(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        cut = ["sank off Sund ", "on ", "Monday", " with 48 people", "the captain was drunk"]
        assert pieces(page) == cut
        assert shown_text(page) == OVERLAPPING
        tones = page.locator(".piece").evaluate_all("(all) => all.map((one) => one.dataset.tone)")
        assert tones == [f"severity-{step}" for step in (3, 3, 4, 2, 5)]
        lines = page.locator(".piece").evaluate_all(
            "(all) => all.map((one) =>"
            " one.style.getPropertyValue('--lines').split('repeating').length - 1)"
        )
        assert lines == [2, 3, 3, 1, 2]  # seats b c, a b c, a b c, a, a b


def test_the_innermost_span_is_meant_and_others_named(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        page.locator(".piece", has_text="Monday").hover()
        card = page.locator("#card")
        expect(card).to_contain_text("It was a Tuesday.")
        expect(card).to_contain_text("severity 4")
        expect(card).to_contain_text("an error with probability 0.94")
        expect(card).to_contain_text("quoted exactly")
        expect(card.locator(".seat")).to_have_text(["a", "b", "c"])
        card.get_by_role("button", name="Span 2").click()
        expect(card).to_contain_text("84 people were on board.")
        page.locator("#row h2").click()
        expect(card).to_be_hidden()


def test_spans_are_walked_by_keyboard_placed_or_not(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        pieces(page)
        walked = []
        for _ in range(6):
            page.keyboard.press("n")
            walked.append(focused(page))
        assert walked[:4] == ["sank off Sund ", "on ", "Monday", "the captain was drunk"]
        assert "the mate was asleep" in walked[4]
        assert "Something is missing from the text" in walked[5]
        expect(page.locator("#said")).to_contain_text("Span 6 of 6: Something is missing")
        page.keyboard.press("p")
        assert focused(page) == walked[4]
        expect(page.locator(".findings h3")).to_have_text(
            "6 spans, 2 of them not located in the text"
        )


def test_evidence_is_gone_to_and_escape_leads_back(chromium: Chromium, tmp_path: Path) -> None:
    filler = "A sentence of no weight. " * 200
    source = f"{filler}It happened on Tuesday.{filler}"
    start = source.index("Tuesday")
    proof = {"input": "Article", "start": start, "end": start + 7, "text": "Tuesday"}
    out = "It happened on Monday."
    data = of_one(out, [span(out, "Monday", evidence=[proof])], inputs={"Article": source})
    with chromium.open(written(tmp_path, data)) as page:
        pieces(page)
        place = page.locator("mark.place")
        expect(place).not_to_be_in_viewport()
        page.keyboard.press("n")
        expect(place).to_have_class(re.compile("is-lit"))
        page.keyboard.press("Enter")
        expect(place).to_be_in_viewport()
        expect(place).to_have_class(re.compile("is-gone-to"))
        assert focused(page) == "Tuesday"
        page.keyboard.press("Escape")
        assert focused(page) == "Monday"
        page.locator(".finding .evidence").click()
        assert focused(page) == "Tuesday"


def test_a_seat_can_be_hidden_and_its_own_spans_shown(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        assert len(pieces(page)) == 5
        page.keyboard.press("1")
        assert pieces(page) == ["sank off Sund on ", "Monday", "the captain was drunk"]
        chip = page.locator(".chip[data-key=a]")
        expect(chip).to_have_attribute("aria-pressed", "false")
        chip.click()
        assert len(pieces(page)) == 5
        page.get_by_role("button", name="Show only its 2 spans").click()
        assert pieces(page) == ["sank off Sund on ", "Monday"]
        expect(page.locator(".only-seat")).to_contain_text("Only the spans of c")
        page.get_by_role("button", name="Show all").click()
        assert len(pieces(page)) == 5


def test_peoples_spans_and_scores_are_there(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        expect(page.locator(".people")).to_contain_text("on average 1.50")
        page.get_by_role("button", name="Show 2 spans of people").click()
        assert "sank" in pieces(page)
        expect(page.locator(".findings h3")).to_contain_text("8 spans")
        expect(page.locator(".legend .chip").last).to_contain_text("people's spans2")


def test_the_consolidation_is_explained_step_by_step(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        page.get_by_text("From the seats to the result").click()
        assert page.locator(".steps-list li").all_text_contents() == [
            "Scores of the seats: a 2.00, b 1.00, c 4.50, d none (reply unreadable).",
            "The aggregation “mean” combines the 3 scores into 2.50.",
            "The seats mark spans: a 5, b 3, c 2.",
            "c is set aside as an outlier. Its score counts; its spans do not.",
            (
                "The consolidator “rules” merges these 8 into 6 spans."
                " 3 of them were found by more than one seat."
            ),
            "1 more span is left out because the report is at its limit.",
        ]
        cards = page.locator(".seat-card")
        expect(cards.nth(1)).to_contain_text("2 calls · 1,840 + 212 tokens · 512 cached · 3.4 s")
        expect(cards.nth(3)).to_contain_text("No JSON is in the reply.")


def test_seats_that_were_not_asked_have_a_reason(chromium: Chromium, tmp_path: Path) -> None:
    unasked = {"seats": ["b", "c"], "why": "sure", "reason": "It is 0.90.", "score": 4.2}
    row = result("one", score=4.2, seats=[seat("a", 4.0)], unasked=unasked)
    with chromium.open(
        written(tmp_path, ViewData(texts=[text("one", "A.")], runs=[[row]]))
    ) as page:
        expect(page.locator(".unasked")).to_have_text("Not asked: b, c. It is 0.90.")
        assert page.locator(".seat-card").count() == 1
        page.get_by_text("From the seats to the result").click()
        expect(page.locator(".steps-list")).to_contain_text(
            "estimates the score of the whole panel from these reports: 4.20"
        )


def test_offsets_are_code_points(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        pieces(page)
        page.get_by_role("option", name="mixed").click()
        expect(page.locator("#row h2")).to_have_text("mixed")
        assert pieces(page) == ["😀", "עולם, 渡轮", "👩‍👩‍👧 at"]
        assert shown_text(page) == MIXED
        expect(page.locator("mark.place")).to_have_text("😀")
        page.get_by_role("option", name="hebrew").click()
        expect(page.locator("#row h2")).to_have_text("hebrew")
        assert pieces(page) == ["שני", "ורב החובל ישן"]
        assert shown_text(page) == HEBREW
        start = page.locator(".text").evaluate(
            "(box) => { const range = document.createRange(); range.setStart(box.firstChild, 0);"
            " range.setEnd(box.firstChild, 1);"
            " return range.getBoundingClientRect().left - box.getBoundingClientRect().left; }"
        )
        assert start > 100  # the first letter stands at the right


def test_100_kb_with_400_spans_are_cut_at_their_borders(chromium: Chromium, tmp_path: Path) -> None:
    sentence = "The 😀 number is 00000, and it is wrong. "
    out = "".join(sentence.replace("00000", f"{number:05}") for number in range(2600))
    assert len(out.encode()) > 100_000
    spans = [span(out, f"{number:05}, and") for number in range(0, 2600, 7)][:400]
    with chromium.open(written(tmp_path, of_one(out, spans))) as page:
        assert len(pieces(page)) == len(spans)
        assert pieces(page)[-1] == spans[-1]["text"]
        assert shown_text(page) == out
        nodes = page.locator(".text").evaluate("(box) => box.childNodes.length")
        assert nodes == 2 * len(spans) + 1


def test_hostile_text_is_shown_and_runs_nothing(chromium: Chromium, tmp_path: Path) -> None:
    out = f"a\u202etxt.exe\x1b[2J {HOSTILE}\x00 end"
    spans = [span(out, HOSTILE, category=HOSTILE, explanation=HOSTILE, found_by=[HOSTILE])]
    given = {"aspect": HOSTILE, "system": HOSTILE, "task": HOSTILE, "reason": HOSTILE}
    seats = [seat(HOSTILE, 2.0, spans=spans, rationale=HOSTILE)]
    lost = [seat(HOSTILE, None, reply=f"{HOSTILE}\x07", reason=HOSTILE)]
    rows = [
        result(HOSTILE, spans=spans, seats=seats, **given),
        result("lost", score=None, outcome="refused", seats=lost, **given),
    ]
    kept = text(HOSTILE, out, inputs={HOSTILE: HOSTILE}, references=[HOSTILE], system=HOSTILE)
    human = {"human": {HOSTILE: {HOSTILE: 1}}}
    data = ViewData(texts=[{**kept, **human}], runs=[rows], names=(HOSTILE,))
    with chromium.open(written(tmp_path, data)) as page:
        assert pieces(page) == [HOSTILE]
        assert shown_text(page) == f"a\ufffdtxt.exe\ufffd[2J {HOSTILE}\ufffd end"
        page.keyboard.press("n")
        expect(page.locator("#card .explanation")).to_have_text(HOSTILE)
        page.get_by_role("button", name="About").click()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        expect(page.locator(".failure pre")).to_have_text(f"{HOSTILE}\ufffd")
        assert page.locator("img").count() == 0
        assert page.evaluate("document.body.dataset.owned ?? null") is None
        assert page.title() == HOSTILE
        assert sideways(page) == 0


MARKDOWN = """# The bridge 😀

It **opened in 1935**, see [the mayor](https://mayor.example/torn) or [this](javascript:alert(1)).

- ![logo](https://evil.example/x.png) <img src=x onerror=alert(1)>
- Built by `Falk`

| Year | Event |
|------|-------|
| 1932 | start |
"""


def test_markdown_is_drawn_over_the_raw_characters(chromium: Chromium, tmp_path: Path) -> None:
    quotes = ["opened in 1935**, see [the", "mayor.example", "1932", "Falk"]
    data = of_one(MARKDOWN, [span(MARKDOWN, quote) for quote in quotes])
    with chromium.open(written(tmp_path, data)) as page:
        # What is between the words is hidden, but for an address that alone holds a span.
        assert pieces(page) == ["opened in 1935", ", see ", "the", "mayor.example", "Falk", "1932"]
        assert shown_text(page) == MARKDOWN
        shown = page.locator(".text").inner_text()
        assert "opened in 1935, see" in shown
        assert "**" not in shown
        assert "|" not in shown
        assert page.locator(".text img, .text script").count() == 0
        links = page.locator(".text a").evaluate_all("(all) => all.map((a) => a.href)")
        assert links == ["https://mayor.example/torn"]
        expect(page.locator(".text [role=heading]")).to_have_text("# The bridge 😀")
        page.get_by_role("button", name="Raw text").click()
        assert pieces(page) == [*quotes[:2], *reversed(quotes[2:])]
        assert page.locator(".text").inner_text() == MARKDOWN


def test_a_line_of_1_mb_is_whole(chromium: Chromium, tmp_path: Path) -> None:
    out = "x" * 500_000 + "wrong" + "y" * 500_000
    with chromium.open(written(tmp_path, of_one(out, [span(out, "wrong")]))) as page:
        assert pieces(page) == ["wrong"]
        assert len(shown_text(page)) == len(out)
        assert sideways(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_that_of_wcag_aa(
    chromium: Chromium, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    with chromium.open(written(tmp_path, one_run()), scheme=scheme) as page:
        pieces(page)
        page.keyboard.press("n")
        fills = page.locator(".swatch").all()  # the fills of spans, with the ink of their text
        assert len(fills) == 5
        others = (
            "h1, h2, h3, h4, .origin, .definition, .ground, .decision, .coverage, .count, legend"
        )
        said = "#card p, #card b, #card bdi, .finding p, .option span, .input-text, .failed, .note"
        for found in (*fills, *page.locator(others).all(), *page.locator(said).all()):
            if found.is_visible() and found.text_content():
                assert contrast(found) >= READABLE, found.evaluate("(one) => one.outerHTML")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (640, 900), (1000, 700), (1920, 1080)])
def test_no_width_needs_scrolling_sideways(
    chromium: Chromium, tmp_path: Path, width: int, height: int
) -> None:
    with chromium.open(written(tmp_path, one_run()), width=width, height=height) as page:
        page.get_by_role("option", name="ferry/bart").click()
        pieces(page)
        page.keyboard.press("n")
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert sideways(page) == 0
        box = page.locator("#row").evaluate("(row) => row.scrollWidth - row.clientWidth")
        assert box <= 0


def test_print_shows_all_of_the_row(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        pieces(page)
        page.emulate_media(media="print")
        expect(page.locator("#list")).to_be_hidden()
        expect(page.locator(".only-print")).to_have_text(
            "One of 5 rows of ferries; the page prints the chosen one."
        )
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(page.get_by_text("The ferry ran aground; all were rescued.")).to_be_visible()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(page.get_by_text("The ferry ran aground; all were rescued.")).to_be_hidden()
        clipped = page.evaluate("getComputedStyle(document.getElementById('row')).overflow")
        assert clipped == "visible"
        expect(page.locator(".finding").last).to_be_visible()


def test_help_lists_every_key(chromium: Chromium, tmp_path: Path) -> None:
    with chromium.open(written(tmp_path, one_run())) as page:
        pieces(page)
        page.keyboard.press("?")
        keys = page.locator("dialog kbd").all_text_contents()
        assert keys == ["j", "k", "n", "p", "o", "1 – 9", "/", "f", "s", "Esc", "?"]
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        page.keyboard.press("f")
        expect(page.locator("#filters")).to_be_hidden()
