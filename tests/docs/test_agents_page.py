"""The page on agents and its example work as they stand; only the model is scripted."""

import re
import runpy
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spanjury.orchestration.engine.text_repair.loop import Stopped

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
EXAMPLE = ROOT / "examples" / "agent" / "repair_summaries.py"
TOOLS, VALIDATOR, STREAM, REPAIR = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def saying(*answers: str | ToolCallPart) -> FunctionModel:
    """Return a model that gives its answers in turn, a tool call or a text each."""
    parts = [TextPart(each) if isinstance(each, str) else each for each in answers]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[parts.pop(0)])

    return FunctionModel(answer)


def run_block(code: str, model: FunctionModel) -> dict[str, object]:
    """Run a block with a model, and return the names that it leaves."""
    body = textwrap.indent(code, "    ") + "\n    return locals()"
    names: dict[str, object] = {"model": model, "__name__": "agents_page"}
    exec(f"async def example():\n{body}", names)
    left: dict[str, object] = anyio.run(
        names["example"]  # type: ignore[arg-type]  # exec hides what it defines
    )
    return left


def test_the_tools_are_called_by_the_model() -> None:
    arguments = {"text": "It opened in 1935.", "source": "It opened in 1932."}
    left = run_block(TOOLS, saying(ToolCallPart("check_text", arguments), "No."))
    history = str(left["done"].all_messages())  # type: ignore[attr-defined]  # it has its result
    assert "Decision: faulty" in history
    assert "The source says '1932'." in history


def test_the_validator_sends_back_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    wrong, right = "The bridge opened in 1935.", "The bridge opened in 1932."
    left = run_block(VALIDATOR, saying(wrong, right))
    assert capsys.readouterr().out == f"{right}\n"
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    done = left["done"]
    sent = [
        str(part.content)
        for message in done.all_messages()  # type: ignore[attr-defined]  # as above
        for part in message.parts
    ]
    assert any(shown in content for content in sent)


def test_the_stream_stops_at_the_wrong_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    sent: list[str] = []

    async def write(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for piece in ("The bridge opened ", "in 1935. It ", "is long. ", "It is new."):
            sent.append(piece)
            yield piece

    run_block(STREAM, FunctionModel(stream_function=write))
    assert "\nStopped: The source says '1932'.\n" in (printed := capsys.readouterr().out)
    assert printed.endswith("The bridge opened in 1935.\n")
    assert sent == ["The bridge opened ", "in 1935. It "]


def test_the_repair_prints_its_edits(capsys: pytest.CaptureFixture[str]) -> None:
    run_block(REPAIR, saying('{"edits": [{"part": 1, "text": "1932"}]}'))
    assert capsys.readouterr().out == (
        "The bridge opened in 1932. ok nothing_marked\n21 1935 1932 [\"The source says '1932'.\"]\n"
    )


def test_the_page_names_every_end_of_a_repair() -> None:
    assert re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)[-len(Stopped) :] == [
        "nothing_marked",
        "no_place",
        "no_better",
        "unchanged",
        "rounds",
        "limit",
        "unscored",
        "writer_failed",
    ]
    assert len(Stopped) == 8


def test_the_example_repairs_the_planted_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    texts = dict(re.findall(r"^(\S+/\S+): (.*)", printed, re.MULTILINE))
    assert len(texts) == 15
    assert {texts[name] for name in texts if name.endswith("system-a")} == {
        "unsure -> unsure (nothing_marked)"
    }
    assert texts["cup-evening/system-b"] == "faulty -> unsure (nothing_marked)"
    for edit in (
        "'July' -> 'June'",
        "'will be affected' -> 'will not be affected'",
        "'fell' -> 'rose'",
        "'24' -> '14'",
        "'44' -> '41'",
        "'captain captain' -> 'captain'",
    ):
        assert f"      {edit}\n" in printed
    page = (ROOT / "examples" / "agent" / "README.md").read_text("utf-8")
    (mended, faulty) = re.findall(r"(\d+) of the (\d+) texts in which", page)[0]
    assert f"{faulty} of 15 texts had errors; {mended} have none left" in printed
