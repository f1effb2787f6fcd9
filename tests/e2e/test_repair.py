"""The repair with a real model behind a real server: the plumbing, whatever it says."""

import json
from pathlib import Path

import pytest
from fakes.command import spanjury

from spanjury import open_panel, read_segments
from spanjury.agents import arepair
from spanjury.orchestration.engine.text_repair.loop import Stopped
from spanjury.orchestration.wiring.config import EMBEDDED

pytestmark = [pytest.mark.asyncio_only, pytest.mark.e2e]

EXAMPLES = Path(__file__).parents[2] / "examples"
SEGMENT = next(
    segment
    for segment in read_segments(EXAMPLES / "summaries.jsonl")
    if segment.segment_id == "cup-evening/system-b"
)


async def test_held_to_a_grammar_it_writes_replacements_and_all_else_stays() -> None:
    async with open_panel(judges=["grounding"]) as panel:
        done = await arepair(
            SEGMENT.output,
            source=SEGMENT.inputs,
            model=EMBEDDED,
            panel=panel,
            aspects="consistency",
            rounds=1,
        )
    assert done.stopped is not Stopped.WRITER_FAILED, done.reason
    assert done.usage.completion or done.stopped is Stopped.UNCHANGED
    first, *others = done.rounds
    assert first.text == SEGMENT.output
    for other in others:
        rest = reached = 0
        for edit in other.edits:  # the text between the edits is the same, piece by piece
            kept = first.text[reached : edit.start]
            assert other.text[rest : rest + len(kept)] == kept
            rest += len(kept) + len(edit.after)
            reached = edit.end
        assert other.text[rest:] == first.text[reached:]


def test_the_exam_comes_to_its_tables_with_it(tmp_path: Path) -> None:
    examiner = tmp_path / "examiner.toml"
    examiner.write_text('[[seats]]\njudge = "form"\n')
    spanjury(
        *("exam", "repair", "--demo", "--limit", "1", "--rounds", "1", "--judge", "grounding"),
        *("--repair-model", EMBEDDED, "--examiner", examiner, "--aspect", "consistency"),
        *("-o", tmp_path / "repair", "--no-progress"),
    )
    findings = json.loads((tmp_path / "repair" / "findings.json").read_text())
    assert "embedded" in findings["writer"]
    assert sum(ends["clean"] for ends in findings["stopped"].values()) == 1
