"""The page about people's marks: its commands run one after the other, and leave what it says."""

import json
import re
import shlex
import shutil
from pathlib import Path

from fakes.command import call

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "marks.md").read_text("utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


def marks_of_ben(folder: Path) -> None:
    """Write the row that the page shows, for the text that it is of."""
    (shown,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    row = json.loads(shown)
    texts = map(json.loads, (folder / "examples" / "summaries.jsonl").read_text().splitlines())
    (text,) = (candidate for candidate in texts if candidate["id"] == row["id"])
    row["output"] = text["output"]
    del row["human"]["consistency"]["anna"], row["meta"]["marks"][0]
    (folder / "marks-of-ben.jsonl").write_text(json.dumps(row) + "\n")


def test_the_commands_of_the_page_run_in_their_order(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    marks_of_ben(tmp_path)
    outputs = {}
    for command in COMMANDS:
        done = call(tmp_path, *shlex.split(command)[1:])
        outputs[command] = done.output
    assert "anna" in outputs["spanjury marks list my-run"]
    assert "0.720" in outputs["spanjury meta my-run"]
    assert "consistency" in outputs["spanjury marks agreement my-run"]
    rows = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text().splitlines()]
    (both,) = (row for row in rows if row["id"] == "harbour-bridge/system-b")
    assert set(both["human"]["consistency"]) == {"anna", "ben"}
    assert both["meta"]["annotators"] == ["ben"]
    score = {"annotator": "anna", "aspect": "consistency", "scores_only": True}
    assert score in both["meta"]["marks"]


def test_the_row_that_is_shown_has_its_span_where_it_says() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    row = json.loads(shown)
    lines = (ROOT / "examples" / "summaries.jsonl").read_text("utf-8").splitlines()
    (text,) = (candidate for candidate in map(json.loads, lines) if candidate["id"] == row["id"])
    (span,) = row["spans"]
    assert text["output"][span["start"] : span["end"]] == span["text"]
