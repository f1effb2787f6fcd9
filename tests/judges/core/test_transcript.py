"""Trajectories as segments: what the agent wrote as one text, and the places in it."""

import json
from dataclasses import replace

import pytest
from fakes.judges import ASPECT
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Aspect, Segment, ToolCall, ToolSpec, Trajectory, Turn
from spanjury.judges.core.transcript import (
    edited_trajectory,
    json_leaves,
    replies,
    searched_first,
    segment_of,
    transcript,
    turn_of,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def call(name: str, call_id: str = "", /, **arguments: object) -> ToolCall:
    return ToolCall(call_id=call_id, name=name, arguments=json.dumps(arguments))


BOOKING = Trajectory(
    turns=(
        Turn(role="system", text="Today is 3 May."),
        Turn(role="user", text="Book a table for two tomorrow."),
        Turn(role="assistant", calls=(call("tables", "a", date="4 May"), call("menu", "b"))),
        Turn(role="tool", text="18:00, 19:30", call_id="a"),
        Turn(role="tool", text="no such page", call_id="b", failed=True),
        Turn(
            role="assistant",
            text="19:30 it is.",
            calls=(call("book", "c", date="5 May", guests=[{"name": "Ann"}], count=2),),
        ),
        Turn(role="tool", text="booked", call_id="c"),
        Turn(role="assistant", text="Your table is booked for 19:30."),
    ),
    tools=(ToolSpec(name="book", description="Book a table.", parameters={"type": "object"}),),
)


def test_the_output_is_what_the_agent_wrote_with_its_calls() -> None:
    segment = segment_of(BOOKING)
    assert segment.output == (
        'Turn 3:\ncall tables {"date": "4 May"}\ncall menu {}\n\n'
        'Turn 6:\n19:30 it is.\ncall book {"date": "5 May", "guests": [{"name": "Ann"}], '
        '"count": 2}\n\nTurn 8:\nYour table is booked for 19:30.'
    )
    assert segment.task == "agent"
    assert segment.trajectory is BOOKING


@pytest.mark.parametrize(
    ("aspect", "searched"),
    [
        (replace(ASPECT, kind="action"), [6, 3, 8]),
        (replace(ASPECT, kind="action", of_answers=True), [8, 6, 3]),
        (replace(ASPECT, kind="grounding"), [8, 6, 3]),
    ],
)
def test_a_quote_is_searched_for_where_the_aspect_looks_in_the_last_turn_first(
    aspect: Aspect, searched: list[int]
) -> None:
    segment = segment_of(BOOKING)
    written = transcript(BOOKING)
    positions = [written.position_of(*part) for part in searched_first(segment, aspect)]
    turns = [position.turn for position in positions if position]
    assert list(dict.fromkeys(turns)) == searched
    assert searched_first(Segment(segment_id="s", output="Plain."), aspect) == ()


def test_each_turn_of_anyone_else_is_an_input_of_its_own() -> None:
    inputs = segment_of(BOOKING).inputs
    assert [*inputs] == [
        "Instructions [1]",
        "User [2]",
        "Result [4]",
        "Result [5]",
        "Result [7]",
        "Tools",
    ]
    assert inputs["Result [4]"] == "tables: 18:00, 19:30"
    assert inputs["Result [5]"] == "menu failed: no such page"
    assert [turn_of(header) for header in inputs] == [1, 2, 4, 5, 7, None]


def test_what_else_a_segment_has_stays() -> None:
    row = Segment(segment_id="9", output="", system="s", task="tool-use")
    made = segment_of(BOOKING, row)
    assert (made.segment_id, made.system, made.task) == ("9", "s", "tool-use")


def test_offsets_lead_to_an_argument_and_back() -> None:
    made = transcript(BOOKING)
    start, end = made.interval(6, 1, "$.guests[0].name") or (0, 0)
    assert made.text[start:end] == "Ann"
    position = made.position_of(start + 1, end)
    assert position is not None
    assert (str(position), position.start, position.end) == (
        "turn 6, call 1, $.guests[0].name",
        1,
        3,
    )


def test_the_name_of_a_tool_and_a_text_are_places_too() -> None:
    made = transcript(BOOKING)
    assert made.text[slice(*made.interval(6, 1) or ())] == "book"
    start = made.text.index("booked for")
    assert str(made.position_of(start, start + 6)) == "turn 8"
    assert made.position_of(0, 4) is None
    assert made.interval(1) is None


def test_arguments_that_are_not_json_stand_as_they_are() -> None:
    broken = ToolCall(call_id="", name="book", arguments='{"date": ')
    made = transcript(Trajectory(turns=(Turn(role="assistant", calls=(broken,)),)))
    assert made.text == 'Turn 1:\ncall book {"date": '
    assert made.text[slice(*made.interval(1, 1, "$") or ())] == '{"date": '


@given(VALUES)
def test_every_value_stands_at_its_place(value: object) -> None:
    """A value that is written as nothing, the empty text, has none."""
    turn = Turn(
        role="assistant", calls=(ToolCall(call_id="", name="f", arguments=json.dumps(value)),)
    )
    made = transcript(Trajectory(turns=(turn,)))
    assert json.loads(made.text.removeprefix("Turn 1:\ncall f ")) == value
    for path, leaf in json_leaves(value):
        interval = made.interval(1, 1, path)
        if leaf == "" and isinstance(leaf, str):
            assert interval is None
            continue
        assert interval is not None
        written = made.text[slice(*interval)]
        assert json.loads(f'"{written}"' if isinstance(leaf, str) else written) == leaf
        position = made.position_of(*interval)
        assert position is not None
        assert (position.path, position.start, position.end) == (path, 0, len(written))


def test_a_result_belongs_to_the_call_it_names_else_to_the_next_in_order() -> None:
    nameless = Trajectory(
        turns=(
            Turn(role="assistant", calls=(call("first"), call("second"))),
            Turn(role="tool", text="1"),
            Turn(role="tool", text="2"),
            Turn(role="tool", text="3"),
        )
    )
    callers = [nameless.caller_of(number) for number in (1, 2, 3, 4)]
    assert [made.name if made else None for made in callers] == [None, "first", "second", None]
    named = BOOKING.caller_of(5)
    assert named is not None
    assert named.name == "menu"


def test_replies_are_the_turns_that_speak_to_the_user() -> None:
    assert replies(BOOKING) == (8,)


def test_a_trajectory_without_an_agent_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a turn of the assistant"):
        Trajectory(turns=(Turn(role="user", text="Hi"),))


def test_edits_of_a_transcript_are_edits_of_turns_tools_and_values() -> None:
    written = transcript(BOOKING)

    def edit(part: str, text: str) -> tuple[int, int, str]:
        start = written.text.rindex(part)
        return start, start + len(part), text

    edits = [
        edit("menu", "list_menus"),
        edit("5 May", 'the "6th"'),
        edit("Ann", "Bo"),
        edit("2", "3"),
        edit("booked", "kept"),
    ]
    made = edited_trajectory(BOOKING, edits)
    assert made.turns[2].calls[1].name == "list_menus"
    assert json.loads(made.turns[5].calls[0].arguments) == {
        "date": 'the "6th"',
        "guests": [{"name": "Bo"}],
        "count": 3,
    }
    assert made.turns[7].text == "Your table is kept for 19:30."
    assert [turn.text for turn in made.turns[:7]] == [turn.text for turn in BOOKING.turns[:7]]


@pytest.mark.parametrize(("text", "value"), [("", None), ("three", "three"), ("[1]", [1])])
def test_a_value_that_is_no_text_is_replaced_by_json(text: str, value: object) -> None:
    start = transcript(BOOKING).text.rindex("2}")
    made = edited_trajectory(BOOKING, [(start, start + 1, text)])
    assert json.loads(made.turns[5].calls[0].arguments)["count"] == value
    assert edited_trajectory(BOOKING, [(0, 4, "Round")]) == BOOKING  # the line before a turn
