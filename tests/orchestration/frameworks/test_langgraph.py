"""The node in graphs of LangGraph: only the model is scripted."""

import json

import anyio
import pytest
from fakes.installed import is_absent
from fakes.pages import run_agents_block

if is_absent("langgraph"):
    pytest.skip("langgraph is not installed: just frameworks", allow_module_level=True)

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode

from spanjury.agents import OnFailure, jury_node
from spanjury.judges.core import ConfigError, JudgeError

WRONG, RIGHT = "2026-05-09", "2026-05-08"
ASKED = {
    "messages": [
        ("system", "Today is Thursday 7 May 2026."),
        ("user", "Book a table for four tomorrow."),
    ]
}
BOOKED: list[str] = []


@tool
def book_table(date: str, guests: int) -> str:
    """Book a table."""
    BOOKED.append(date)
    return json.dumps({"booking": "LT-4071", "date": date, "guests": guests})


@pytest.fixture(autouse=True)
def _no_bookings() -> None:
    BOOKED.clear()


def calling(*dates: str) -> AIMessage:
    calls = [
        {"name": "book_table", "args": {"date": date, "guests": 4}, "id": f"call-{number}-{date}"}
        for number, date in enumerate(dates)
    ]
    return AIMessage(content="", tool_calls=calls)


def graph_of(
    *answers: AIMessage, is_sync: bool = False, on_failure: OnFailure = "raise", rounds: int = 2
) -> CompiledStateGraph:
    model = GenericFakeChatModel(messages=iter(answers))
    jury = jury_node(tools=[book_table], on_failure=on_failure, rounds=rounds)
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([book_table]))
    graph.add_node("jury", jury.sync if is_sync else jury)
    graph.add_edge(START, "agent")
    graph.add_edge("agent", "jury")
    graph.add_edge("tools", "agent")
    graph.add_conditional_edges("jury", jury.route)
    return graph.compile(checkpointer=InMemorySaver())


def run(graph: CompiledStateGraph, asked: object = ASKED) -> list[BaseMessage]:
    async def invoke() -> list[BaseMessage]:
        state = await graph.ainvoke(asked, {"configurable": {"thread_id": "1"}})
        return list(state["messages"])

    return anyio.run(invoke)


@pytest.mark.parametrize("is_sync", [True, False])
def test_a_wrong_call_goes_back_before_it_is_carried_out(is_sync: bool) -> None:
    answers = (calling(WRONG), calling(RIGHT), AIMessage("Booked for 8 May, number LT-4071."))
    graph = graph_of(*answers, is_sync=is_sync)
    if is_sync:
        messages = graph.invoke(ASKED, {"configurable": {"thread_id": "1"}})["messages"]
    else:
        messages = run(graph)
    feedback = messages[3]
    assert isinstance(feedback, ToolMessage)
    assert feedback.tool_call_id == f"call-0-{WRONG}"
    assert f'"{WRONG}", turn 3, call 1, $.date' in str(feedback.content)
    assert BOOKED == [RIGHT]
    assert messages[-1].content == "Booked for 8 May, number LT-4071."


def test_each_call_of_a_turn_with_an_error_is_answered() -> None:
    messages = run(graph_of(calling(RIGHT, WRONG), calling(RIGHT), AIMessage("It is booked.")))
    beside, feedback = messages[3:5]
    assert "a call of the same turn has an error" in str(beside.content)
    assert f'"{WRONG}"' in str(feedback.content)
    assert BOOKED == [RIGHT]


def test_a_wrong_answer_goes_back_as_a_message_of_the_user() -> None:
    wrong, right = AIMessage("Your booking is LT-4017."), AIMessage("Your booking is LT-4071.")
    messages = run(graph_of(calling(RIGHT), wrong, right))
    assert isinstance(messages[-2], HumanMessage)
    assert '"LT-4017"' in str(messages[-2].content)
    assert messages[-1].content == "Your booking is LT-4071."


def test_an_agent_that_goes_on_failing_ends_in_an_error_or_is_accepted() -> None:
    with pytest.raises(JudgeError, match="sent back 1 times and still fails"):
        run(graph_of(calling(WRONG), calling(WRONG), rounds=1))
    assert BOOKED == []
    answers = (calling(WRONG), calling(WRONG), AIMessage("It is booked."))
    run(graph_of(*answers, rounds=1, on_failure="accept"))
    assert BOOKED == [WRONG]


def test_the_rounds_count_from_the_last_request_of_the_thread() -> None:
    graph = graph_of(
        *(calling(WRONG), calling(RIGHT), AIMessage("It is booked.")),
        *(calling("2026-05-19"), calling("2026-05-12"), AIMessage("It is booked, too.")),
        rounds=1,
    )
    run(graph)
    run(graph, {"messages": [("user", "Book one for four on 12 May, too.")]})
    assert BOOKED == [RIGHT, "2026-05-12"]


def test_a_node_refuses_what_it_cannot_use() -> None:
    with pytest.raises(ConfigError, match="'raise' or 'accept'"):
        jury_node(on_failure="ignore")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no messages under the key 'messages'"):
        jury_node().route({"history": []})


def test_the_block_of_the_page_runs() -> None:
    answers = iter([calling(WRONG), calling(RIGHT), AIMessage("Booked, number LT-4071.")])
    names = {"tools": [book_table], "call_model": lambda _: {"messages": [next(answers)]}}
    state = run_agents_block("LangGraph", names)["done"]
    assert isinstance(state, dict)
    assert state["messages"][-1].content == "Booked, number LT-4071."
    assert BOOKED == [RIGHT]
