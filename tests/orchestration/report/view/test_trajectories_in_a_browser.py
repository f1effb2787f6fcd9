"""A trajectory in a browser: a conversation, marks on arguments, evidence in its turn."""

from pathlib import Path

from fakes.view_data import ViewData, result, seat, span, text
from loopback.browser import Chromium, sideways
from playwright.sync_api import expect

from spanjury.adapters.files.reading.trajectories import as_trajectory
from spanjury.judges.core.transcript import segment_of
from spanjury.orchestration.services.viewing.details import turns_of

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
