"""The page on agents and its example work as they stand; only the model is scripted."""

import re
import runpy
import sys
from collections.abc import AsyncIterator

import pytest
from fakes.pages import ROOT, blocks, read_page, run_code
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from spanjury.orchestration.engine.text_repair.loop import Stopped

PAGE = read_page("agents")
EXAMPLES = ROOT / "examples" / "agent"
EXAMPLE = EXAMPLES / "repair_summaries.py"
REVIEW, SUPERVISED, PYDANTIC, _, _, CAPABILITY, *OTHERS = blocks(PAGE, "python")
TOOLS, VALIDATOR, STREAM, RUN, REPAIR = OTHERS
SENT_REVIEW, SENT_BACK = blocks(PAGE, "text")


def saying(*answers: str | ToolCallPart) -> FunctionModel:
    """Return a model that gives its answers in turn, a tool call or a text each."""
    parts = [TextPart(each) if isinstance(each, str) else each for each in answers]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[parts.pop(0)])

    return FunctionModel(answer)


def booking() -> dict[str, object]:
    """Return an agent that books a table for a wrong date, and then for the right one."""
    dates = ["2026-05-09", "2026-05-08"]
    function = {
        "name": "book_table",
        "description": "Book a table.",
        "parameters": {"type": "object", "properties": {"date": {"type": "string"}}},
    }

    async def run_agent(messages: list[object]) -> list[object]:
        date = dates.pop(0)
        called = {"name": "book_table", "arguments": f'{{"date": "{date}", "guests": 4}}'}
        return [
            *messages,
            {"role": "assistant", "tool_calls": [{"id": date, "function": called}]},
            {"role": "tool", "tool_call_id": date, "content": '{"table": 12}'},
            {"role": "assistant", "content": "Your table for four is booked."},
        ]

    return {"tools": [function], "run_agent": run_agent}


def test_any_loop_sends_back_what_the_page_shows() -> None:
    left = run_code(REVIEW, booking())
    assert (left["attempt"], left["review"].passed) == (1, True)  # type: ignore[attr-defined]
    messages = left["messages"]
    assert SENT_REVIEW in messages[4]["content"]  # type: ignore[index]  # a list


def test_a_supervised_run_prints_its_attempts(capsys: pytest.CaptureFixture[str]) -> None:
    run_code(SUPERVISED, booking())
    assert capsys.readouterr().out == (
        "passed Your table for four is booked.\nTrue ['2026-05-09']\nTrue []\n"
    )


def calling(date: str) -> ToolCallPart:
    return ToolCallPart("book_table", {"date": date, "guests": 4})


def test_a_supervised_agent_of_pydantic_ai_books_again(capsys: pytest.CaptureFixture[str]) -> None:
    booked: list[str] = []

    def book_table(date: str, guests: int) -> str:
        booked.append(date)
        return f"Table 12 is booked for {guests}."

    model = saying(calling("2026-05-09"), "Booked.", calling("2026-05-08"), "Booked for 8 May.")
    run_code(PYDANTIC, {"model": model, "book_table": book_table})
    assert capsys.readouterr().out == "Booked for 8 May.\n"
    assert booked == ["2026-05-09", "2026-05-08"]


def test_a_capability_stops_the_wrong_booking(capsys: pytest.CaptureFixture[str]) -> None:
    booked: list[str] = []

    def book_table(date: str, guests: int) -> str:
        booked.append(date)
        return f"Table 12 is booked for {guests}."

    model = saying(calling("2026-05-09"), calling("2026-05-08"), "Booked for 8 May.")
    run_code(CAPABILITY, {"model": model, "book_table": book_table})
    assert capsys.readouterr().out == "Booked for 8 May.\n"
    assert booked == ["2026-05-08"]


def test_the_agent_of_the_example_mends_its_booking(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = str(EXAMPLES / "book_a_table.py")
    monkeypatch.setattr(sys, "argv", [script])
    runpy.run_path(script, run_name="__main__")
    printed = capsys.readouterr().out
    assert "turn 3, call 1, $.date: '2026-05-09': The date has no origin" in printed
    assert 'Bookings: {"L-002": {"date": "2026-05-08", "time": "19:00", "guests": 4}}' in printed


def test_the_tools_are_called_by_the_model() -> None:
    arguments = {"text": "It opened in 1935.", "source": "It opened in 1932."}
    left = run_code(TOOLS, {"model": saying(ToolCallPart("check_text", arguments), "No.")})
    history = str(left["done"].all_messages())  # type: ignore[attr-defined]  # it has its result
    assert "Decision: faulty" in history
    assert "The source says '1932'." in history


def test_the_validator_sends_back_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    wrong, right = "The bridge opened in 1935.", "The bridge opened in 1932."
    left = run_code(VALIDATOR, {"model": saying(wrong, right)})
    assert capsys.readouterr().out == f"{right}\n"
    done = left["done"]
    sent = [
        str(part.content)
        for message in done.all_messages()  # type: ignore[attr-defined]  # as above
        for part in message.parts
    ]
    assert any(SENT_BACK in content for content in sent)


def test_the_stream_stops_at_the_wrong_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    sent: list[str] = []

    async def write(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for piece in ("The bridge opened ", "in 1935. It ", "is long. ", "It is new."):
            sent.append(piece)
            yield piece

    run_code(STREAM, {"model": FunctionModel(stream_function=write)})
    assert "\nStopped: The source says '1932'.\n" in (printed := capsys.readouterr().out)
    assert printed.endswith("The bridge opened in 1935.\n")
    assert sent == ["The bridge opened ", "in 1935. It "]


def test_the_run_stops_at_the_sentence_that_the_tool_contradicts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = DeltaToolCall(name="look_up", json_args='{"name": "Alder Bridge"}', tool_call_id="a")
    responses = iter(
        [
            ("I look it up.", {1: call}),
            ("The Alder Bridge ", "opened in 1935. It ", "is long."),
        ]
    )

    async def write(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        for piece in next(responses):
            yield piece

    run_code(RUN, {"model": FunctionModel(stream_function=write)})
    assert capsys.readouterr().out == (
        "I look it up.The Alder Bridge opened in 1935. It "
        "\nStopped: The Alder Bridge opened in 1935. The source says '1932'.\n"
    )


def test_the_repair_prints_its_edits(capsys: pytest.CaptureFixture[str]) -> None:
    run_code(REPAIR, {"model": saying('{"edits": [{"part": 1, "text": "1932"}]}')})
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
