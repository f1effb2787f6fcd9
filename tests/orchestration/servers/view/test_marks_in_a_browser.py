"""Marks made in a real browser over a real server, and what is on disk afterwards."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fakes.command import call, environment, start
from fakes.rows import summary
from loopback.browser import Chromium, contrast, sideways
from playwright.sync_api import Page, expect

HOSTILE = "<img src=x onerror=alert(1)>\"'&"
SOURCE = "The mill by the river burnt down on Monday night. No one was hurt."
OUTPUTS = (
    "The 🏭 mill burnt down on Friday night.",
    "The mill burnt down on Monday night.",
    "The mill by the sea burnt down.",
)
SELECT = """([start, end]) => {
  const text = document.querySelector("#row .text");
  const nodes = [];
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const at = (place) => {
    for (const node of nodes) {
      if (place <= node.data.length) return [node, place];
      place -= node.data.length;
    }
  };
  getSelection().setBaseAndExtent(...at(start), ...at(end));
}"""
"""Select from and to places in UTF-16, as a mouse would."""


@dataclass(frozen=True, slots=True)
class Served:
    """A run that `spanjury view` shows."""

    folder: Path
    url: str
    process: "subprocess.Popen[str]"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Judge three texts on two aspects; return the folder above the run."""
    rows = [
        summary(
            f"text-{number}",
            output,
            article=SOURCE,
            system=f"system-{number}",
            human={"consistency": {"earlier": 2.5}},
        )
        for number, output in enumerate(OUTPUTS)
    ]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ("--judge", "grounding", "--aspect", "consistency", "--run-dir", "run")
    call(tmp_path, "evaluate", "texts.jsonl", *flags, "--no-progress")
    return tmp_path


@contextmanager
def served(folder: Path, *flags: str, port: int = 0) -> Iterator[Served]:
    process = start(folder, "view", "run", *flags, "--no-browser", "--port", str(port))
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://\S+", line)
    assert found, line + process.stderr.read()
    try:
        yield Served(folder, found[0], process)
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def another(page: Page, url: str) -> Iterator[Page]:
    """Open the page in a profile of its own beside one that is open."""
    browser = page.context.browser
    assert browser is not None
    with browser.new_context() as context:
        beside = context.new_page()
        beside.goto(url)
        yield beside


def begin(page: Page, name: str, *, blind: bool = False, random: bool = False) -> None:
    """Begin to mark under a name, from the ready page."""
    expect(page.locator("body")).to_have_attribute("data-ready", "true")
    page.get_by_role("button", name="Mark", exact=True).click()
    page.locator("#annotator").fill(name)
    page.locator("#blind").set_checked(blind)
    page.locator("#random").set_checked(random)
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#marking .done-line")).to_be_visible()


def exported(folder: Path, *flags: str) -> list[dict[str, object]]:
    call(folder, "marks", "export", "run", "-o", "marks.jsonl", *flags)
    return [json.loads(line) for line in (folder / "marks.jsonl").read_text().splitlines()]


def begun(folder: Path) -> dict[tuple[str, str], float]:
    """Return the scores of the unfinished marks of the only text that has marks."""
    (row,) = exported(folder, "--unfinished")
    meta: Any = row["meta"]
    unfinished = (mark for mark in meta["marks"] if mark.get("is_done") is False)
    return {
        (mark["annotator"], mark["aspect"]): mark["score"] for mark in unfinished if "score" in mark
    }


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("saved")


def test_marks_survive_a_reload_and_are_exported(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, HOSTILE)
        page.keyboard.press("n")
        page.keyboard.press("a")
        expect(page.locator("#card [aria-pressed=true]")).to_have_text("Accept (a)")
        page.keyboard.press("Escape")
        page.evaluate(SELECT, [7, 11])  # behind a character of two units
        page.keyboard.press("m")
        expect(page.locator("#span-editor .editor-quote")).to_have_text("mill")
        page.locator("[data-mark='editor severity 4']").check()
        page.locator("[data-mark='editor category']").fill("name")
        page.locator("[data-mark='editor explanation']").fill("Not a mill.")
        page.locator("[data-mark='score 2']").check()
        page.locator("[data-mark='note']").fill("Look again.")
        saved(page)
        page.locator("[data-mark='done']").click()
        expect(page.locator("#row h2")).to_have_text("text-2")
        expect(page.locator("#marking .done-line")).to_be_visible()
        page.keyboard.press("d")
        expect(page.locator("#row h2")).to_have_text("text-1")
        saved(page)
        page.reload()
        expect(page.locator("#progress")).to_have_text("2 of 3 done")
        page.locator(".option").first.click()
        expect(page.locator(".own-span")).to_have_count(2)
        expect(page.locator("[data-mark='score 2']")).to_be_checked()
        expect(page.locator("[data-mark='note']")).to_have_value("Look again.")
        expect(page.locator(".who")).to_have_text(f"Marking as {HOSTILE}")
        assert page.locator("img").count() == 0

    first, second = exported(run)
    assert (first["human"], second["spans"]) == ({"consistency": {HOSTILE: 2.0}}, [])
    spans = first["spans"]
    assert isinstance(spans, list)
    friday, mill = spans
    assert (friday["text"], friday["annotator"]) == ("Friday", HOSTILE)
    assert mill == {
        "start": 6,
        "end": 10,
        "text": "mill",
        "severity": 4,
        "category": "name",
        "explanation": "Not a mill.",
        "annotator": HOSTILE,
        "aspect": "consistency",
    }
    assert first["meta"] == {
        "marks": [{"annotator": HOSTILE, "aspect": "consistency", "note": "Look again."}],
        "annotators": [HOSTILE],
    }
    (judge,) = json.loads(call(run, "marks", "agreement", "run", "--json").stdout)["judges"]
    counts = [judge[name] for name in ("judge", "spans", "accepted", "edited", "rejected")]
    assert counts == ["grounding", 2, 1, 0, 0]


def test_one_begins_and_closes_the_editor_without_a_mouse(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as page:
        expect(page.locator("body")).to_have_attribute("data-ready", "true")
        page.get_by_role("button", name="Mark", exact=True).press("Enter")
        page.keyboard.type("anna")
        page.keyboard.press("Enter")
        expect(page.locator(".who")).to_have_text("Marking as anna")
        expect(page.locator("#marking .done-line")).to_be_visible()
        page.keyboard.press("m")
        page.keyboard.press("Escape")
        expect(page.locator("#span-editor")).to_have_count(0)
        expect(page.locator(".piece[data-tone=own]")).to_be_focused()
        expect(page.locator(".finding").first).to_contain_text("marked by anna")
        expect(page.get_by_role("button", name="1 The", exact=True)).to_have_count(1)
        expect(page.get_by_role("button", name="2 Friday", exact=True)).to_have_count(1)
        page.keyboard.press("n")
        page.keyboard.press("e")
        page.locator("[data-mark='editor explanation']").fill("Monday.")
        page.keyboard.press("Escape")
        expect(page.locator(".own-span").last).to_contain_text("a judge's, edited")
        expect(page.locator(".piece:focus")).to_have_text("Friday")


def test_a_mark_far_down_a_long_text_leads_back_to_it(chromium: Chromium, run: Path) -> None:
    shutil.rmtree(run / "run")
    row = summary("long", "The mill burnt down. " * 2000, article=SOURCE)
    (run / "texts.jsonl").write_text(json.dumps(row) + "\n")
    flags = ("--judge", "grounding", "--aspect", "consistency", "--run-dir", "run")
    call(run, "evaluate", "texts.jsonl", *flags, "--no-progress")
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, "anna")
        page.evaluate(SELECT, [21004, 21008])
        page.keyboard.press("m")
        expect(page.locator("#span-editor .editor-quote")).to_have_text("mill")
        expect(page.locator(".piece[data-tone=own]")).not_to_be_in_viewport()
        page.get_by_role("button", name="Close", exact=True).click()
        expect(page.locator(".piece[data-tone=own]")).to_be_in_viewport()


def test_two_annotators_at_once_have_marks_of_their_own(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as anna, another(anna, at.url) as ben:
        begin(anna, "anna")
        begin(ben, "ben")
        for page, score in ((anna, 5), (ben, 1)):
            page.locator(f"[data-mark='score {score}']").check()
            page.locator("[data-mark='done']").click()
        saved(anna)
        saved(ben)
    (row,) = exported(run)
    assert row["human"] == {"consistency": {"anna": 5.0, "ben": 1.0}}


def test_the_later_of_two_windows_with_the_same_name_chooses(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as one, another(one, at.url) as other:
        begin(one, "anna")
        begin(other, "anna")
        one.locator("[data-mark='score 4']").check()
        saved(one)
        other.locator("[data-mark='score 2']").click()
        conflict = other.locator(".conflict")
        expect(conflict).to_contain_text("Score 2")
        expect(conflict).to_contain_text("Score 4")
        expect(other.locator("#saved")).to_have_text("two versions")
        other.locator("[data-mark='mine']").click()
        saved(other)
        expect(other.locator("[data-mark='score 2']")).to_be_checked()
    assert begun(run) == {("anna", "consistency"): 2.0}


def test_a_blind_annotator_sees_no_judge_before_the_end(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, "anna", blind=True)
        row = page.locator("#row")
        expect(row).not_to_contain_text("grounding")
        expect(row).not_to_contain_text("People's scores")
        expect(page.locator("#sort option")).to_have_text(
            ["Order of the file", "Random, your own order"]
        )
        assert page.locator(".piece, .score, .verdict, .seat-card").count() == 0
        assert page.evaluate("spanjuryView.table.runs[0].score.length") == 0
        page.evaluate(SELECT, [0, 3])
        page.keyboard.press("m")
        expect(page.locator(".piece[data-tone=own]")).to_have_text("The")
        page.locator("[data-mark='editor severity 1']").check()
        page.keyboard.press("Escape")
        page.locator("[data-mark='score 3']").check()
        page.locator("[data-mark='done']").click()
        expect(page.locator(".seat-card h4")).to_contain_text(["grounding"])
        expect(page.locator(".piece[data-tone=own]")).to_have_text("The")
        expect(page.locator(".piece[data-tone^=severity]")).to_have_text("Friday")
        page.keyboard.press("d")
        expect(page.locator("#row h2")).to_have_text("text-1")
        expect(page.locator(".seat-card")).to_have_count(0)


def test_a_mark_that_cannot_be_saved_is_kept_and_sent_again(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url, complaints=("Failed to load",)) as page:
        begin(page, "anna")
        page.route("**/api/mark?*", lambda route: route.abort())
        page.locator("[data-mark='score 4']").check()
        expect(page.locator("#saved")).to_have_text("not saved")
        expect(page.locator("#trouble")).to_contain_text("1 mark not saved")
        page.unroute("**/api/mark?*")
        page.locator("#trouble button").click()
        saved(page)
        expect(page.locator("#trouble")).to_be_hidden()
    assert begun(run) == {("anna", "consistency"): 4.0}


def token_of(url: str) -> str:
    return url.partition("#")[2]


def test_a_server_that_is_started_again_gets_what_was_not_saved(
    chromium: Chromium, run: Path
) -> None:
    complaints = ("Failed to load",)
    with served(run) as at, chromium.open(at.url, complaints=complaints) as page:
        begin(page, "anna")
        at.process.kill()
        at.process.wait()
        page.locator("[data-mark='note']").fill("Written meanwhile.")
        port = int(at.url.partition("#")[0].rstrip("/").rpartition(":")[2])
        expect(page.locator("#trouble")).to_contain_text(f"again as before, with --port {port}")
        with served(run, port=port) as again:
            page.evaluate("token => location.hash = token", token_of(again.url))
            saved(page)
            expect(page.locator("#trouble")).to_be_hidden()
            expect(page.locator("[data-mark='note']")).to_have_value("Written meanwhile.")
    (row,) = exported(run, "--unfinished")
    assert row["meta"]["marks"][0]["note"] == "Written meanwhile."  # type: ignore[index]


def test_a_server_with_other_rows_gets_nothing(chromium: Chromium, run: Path) -> None:
    texts = (run / "texts.jsonl").read_text().splitlines(keepends=True)
    (run / "last.jsonl").write_text(texts[-1])
    complaints = ("Failed to load",)
    with served(run) as at, chromium.open(at.url, complaints=complaints) as page:
        begin(page, "anna")
        at.process.kill()
        at.process.wait()
        page.locator("[data-mark='score 4']").check()
        expect(page.locator("#saved")).to_have_text("not saved")
        port = int(at.url.partition("#")[0].rstrip("/").rpartition(":")[2])
        with served(run, "--rows", "last.jsonl", port=port) as other:
            page.evaluate("token => location.hash = token", token_of(other.url))
            expect(page.locator("#trouble")).to_contain_text("shows other rows")
            expect(page.locator("#saved")).to_have_text("not saved")
    assert exported(run, "--unfinished") == []


def test_leaving_with_an_unsaved_mark_warns(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url, complaints=("Failed to load",)) as page:
        begin(page, "anna")
        page.route("**/api/mark?*", lambda route: route.abort())
        page.locator("[data-mark='score 4']").check()
        expect(page.locator("#saved")).to_have_text("not saved")
        asked: list[str] = []

        def stay(dialog: object) -> None:
            asked.append(dialog.type)  # type: ignore[attr-defined]  # playwright's Dialog
            dialog.accept()  # type: ignore[attr-defined]  # likewise

        page.on("dialog", stay)
        page.reload()
        assert asked == ["beforeunload"]


def test_a_server_killed_after_saved_was_shown_lost_nothing(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, "anna")
        page.locator("[data-mark='score 5']").check()
        saved(page)
        os.kill(at.process.pid, signal.SIGKILL)
        at.process.wait()
    assert begun(run) == {("anna", "consistency"): 5.0}


def test_spans_of_judges_are_rejected_and_edited_by_keys(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, "anna")
        page.keyboard.press("n")
        page.keyboard.press("r")
        expect(page.locator(".finding").first).to_have_attribute("data-verdict", "rejected")
        page.keyboard.press("e")
        expect(page.locator("#span-editor .editor-quote")).to_have_text("Friday")
        page.get_by_role("button", name="End a word later").click()
        expect(page.locator("#span-editor .editor-quote")).to_have_text("Friday night")
        page.locator("[data-mark='editor severity 5']").focus()
        page.keyboard.press("Space")
        saved(page)
        expect(page.locator(".own-span")).to_contain_text(["a judge's, edited"])
        page.locator("[data-mark='done']").focus()
        page.keyboard.press("d")
        expect(page.locator("#row h2")).to_have_text("text-2")
        saved(page)
    (row,) = exported(run)
    spans = row["spans"]
    assert isinstance(spans, list)
    (span,) = spans
    assert (span["text"], span["severity"]) == ("Friday night", 5)


def test_the_random_order_is_a_persons_own_and_stable(chromium: Chromium, run: Path) -> None:
    order = "spanjuryView.state.order.join()"
    orders: dict[str, set[str]] = {}
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, "anna", random=True)
        for name in ("anna", "ben", "carl", "dora", "anna", "ben", "carl", "dora"):
            page.locator(".who").click()
            page.locator("#annotator").fill(name)
            page.get_by_role("button", name="Go on").click()
            expect(page.locator(".who")).to_have_text(f"Marking as {name}")
            expect(page.locator("#marking h3")).to_have_text(f"Marks of {name}")
            orders.setdefault(name, set()).add(page.evaluate(order))
    assert all(len(found) == 1 for found in orders.values())
    assert len(set.union(*orders.values())) > 1


def test_all_aspects_of_a_text_are_finished_at_once(chromium: Chromium, run: Path) -> None:
    aspects = ("--aspect", "consistency", "--aspect", "fluency", "--aspect", "coherence")
    flags = (*aspects, "--judge", "grounding", "--run-dir", "run", "--no-progress")
    shutil.rmtree(run / "run")
    call(run, "evaluate", "texts.jsonl", *flags, "--show", "none")
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, "anna", blind=True)
        page.locator("[data-mark='text score 1']").select_option("4")
        page.locator("[data-mark='text done 2']").check()
        expect(page.locator("#progress")).to_have_text("1 of 9 done")
        assert page.locator(".seat-card").count() == 0  # the shown aspect is not finished yet
        page.keyboard.press("D")
        expect(page.locator("#progress")).to_have_text("3 of 9 done")
        expect(page.locator("[data-mark='text done']")).to_be_disabled()
        expect(page.locator(".seat-card")).to_have_count(1)
        page.keyboard.press("d")
        expect(page.locator("#row h2")).to_have_text("text-1")
        page.locator(".option").nth(1).click()
        expect(page.locator("#row .aspect")).to_have_text("fluency")
        expect(page.locator("[data-mark='score 4']")).to_be_checked()
        page.locator("[data-mark='text done 1']").set_checked(False)
        expect(page.locator("#progress")).to_have_text("2 of 9 done")
        saved(page)
    assert begun(run) == {("anna", "fluency"): 4.0}


def test_the_guideline_opens_at_the_aspect_of_the_row(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as page:
        begin(page, "anna")
        page.keyboard.press("g")
        guide = page.locator("#guideline")
        expect(guide.get_by_role("heading", name="Consistency", exact=True)).to_be_in_viewport()
        expect(guide.get_by_role("heading", name="Severity of an error")).to_have_count(1)
        page.set_viewport_size({"width": 390, "height": 800})
        assert sideways(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marking_fits_a_telephone_and_can_be_read(
    chromium: Chromium, run: Path, scheme: str
) -> None:
    with served(run) as at, chromium.open(at.url, width=390, scheme=scheme) as page:  # type: ignore[arg-type]  # one of the two
        expect(page.locator("body")).to_have_attribute("data-ready", "true")
        page.get_by_role("button", name="Mark", exact=True).click()
        page.locator("#annotator").fill("anna")
        page.get_by_role("button", name="Begin").click()
        page.locator(".option").first.click()
        expect(page.locator("#marking .done-line")).to_be_visible()
        page.evaluate(SELECT, [0, 3])
        page.locator("[data-mark='panel add']").click()
        expect(page.locator("#span-editor")).to_be_visible()
        assert sideways(page) == 0
        for part in ("#saved", ".own-span .note", ".choices legend", ".choice-label", ".done"):
            assert contrast(page.locator(part).first) >= 4.5, part


def test_a_page_without_marks_makes_no_file_of_them(chromium: Chromium, run: Path) -> None:
    with served(run) as at, chromium.open(at.url) as page:
        expect(page.locator("body")).to_have_attribute("data-ready", "true")
        expect(page.get_by_role("button", name="Mark", exact=True)).to_be_visible()
        assert environment(run)
    assert not (run / "run" / "marks.sqlite3").exists()
