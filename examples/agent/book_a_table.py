"""Supervise an agent with three tools that books a table for the wrong date, and corrects it.

Without flags, a script replaces the model: it takes tomorrow for Saturday, and corrects the call
when the judges send it back. With ``--model`` and ``--base-url`` the agent calls a model at any
OpenAI-compatible server.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from itertools import count

import anyio
import httpx

from spanjury.agents import Attempt, Supervised, asupervise

Message = dict[str, object]
Model = Callable[[list[object]], Message]

INSTRUCTIONS = "You book tables at the Lantern. Today is Thursday 7 May 2026."
REQUEST = "Please book a table for four tomorrow at 19:00."


class Restaurant:
    """The bookings of a restaurant, and the tools that read and change them."""

    def __init__(self) -> None:
        self.bookings: dict[str, dict[str, object]] = {}
        self._numbers = count(1)

    def free_tables(self, date: str, guests: int) -> object:
        """Return the free tables on a date."""
        return {"date": date, "tables": [{"table": 12, "seats": guests}]}

    def book_table(self, date: str, time: str, guests: int) -> object:
        """Book a table."""
        number = f"L-{next(self._numbers):03}"
        self.bookings[number] = {"date": date, "time": time, "guests": guests}
        return {"booking": number, **self.bookings[number]}

    def cancel_booking(self, booking: str) -> object:
        """Cancel a booking by its number."""
        del self.bookings[booking]
        return {"cancelled": booking}


def specified(name: str, description: str, **properties: str) -> Message:
    """Return the specification of a tool in OpenAI's format."""
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": [*properties],
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


TOOLS = [
    specified("free_tables", "Find free tables.", date="string", guests="integer"),
    specified("book_table", "Book a table.", date="string", time="string", guests="integer"),
    specified("cancel_booking", "Cancel a booking.", booking="string"),
]


def run_agent(messages: list[object], *, model: Model, restaurant: Restaurant) -> list[object]:
    """Call the model and execute its tool calls until it answers; return all messages."""
    messages = [*messages]
    while True:
        reply = model(messages)
        messages.append(reply)
        calls = reply.get("tool_calls")
        if not isinstance(calls, list):
            return messages
        for call in calls:
            tool = getattr(restaurant, call["function"]["name"])
            result = tool(**json.loads(call["function"]["arguments"]))
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
            )


def scripted() -> Model:
    """Return a scripted model that gets the date wrong once."""
    wrong = {"date": "2026-05-09", "guests": 4}
    right = {"date": "2026-05-08", "guests": 4}
    steps = iter(
        [
            calling("free_tables", **wrong),
            calling("book_table", time="19:00", **wrong),
            answering("Your table for four is booked at 19:00. The booking is L-001."),
            calling("cancel_booking", booking="L-001"),
            calling("free_tables", **right),
            calling("book_table", time="19:00", **right),
            answering("Your table for four is booked for 8 May at 19:00. The booking is L-002."),
        ]
    )
    return lambda _: next(steps)


def calling(name: str, **arguments: object) -> Message:
    """Return an assistant's message that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"{name}-{arguments}", "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def answering(text: str) -> Message:
    """Return an assistant's message to the user."""
    return {"role": "assistant", "content": text}


def served(name: str, base_url: str) -> Model:
    """Return a model that calls a server."""

    def reply(messages: list[object]) -> Message:
        body = {"model": name, "messages": messages, "tools": TOOLS}
        answer = httpx.post(f"{base_url}/chat/completions", json=body, timeout=120)
        answer.raise_for_status()
        message: Message = answer.json()["choices"][0]["message"]
        return {key: value for key, value in message.items() if value is not None}

    return reply


async def book(model: Model, restaurant: Restaurant) -> Supervised[list[object]]:
    """Run the agent, and send it back until its review finds no error."""

    async def run(messages: list[object]) -> list[object]:
        return run_agent(messages, model=model, restaurant=restaurant)

    return await asupervise(
        run,
        [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": REQUEST}],
        tools=TOOLS,
    )


def lines_of(attempt: Attempt[list[object]]) -> Iterator[str]:
    """Yield the decision on an attempt and its errors with their positions."""
    report = attempt.review.report
    yield f"decision: {report.decision}"
    for span in report.spans:
        yield f"  {report.position_of(span)}: {span.text!r}: {span.explanation}"


def text_of(message: object) -> object:
    """Return the text of a message."""
    return message.get("content") if isinstance(message, dict) else message


def main() -> None:
    """Run the agent, and print each attempt and the restaurant's bookings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="name of the model that the agent asks; a script without")
    parser.add_argument("--base-url", default="http://127.0.0.1:11434/v1", help="URL of its server")
    flags = parser.parse_args()
    restaurant = Restaurant()
    model = served(flags.model, flags.base_url) if flags.model else scripted()
    done = anyio.run(book, model, restaurant)
    for number, attempt in enumerate(done.attempts, 1):
        sys.stdout.write("\n".join([f"Attempt {number}", *lines_of(attempt)]) + "\n")
    sys.stdout.write(f"Answer: {text_of(done.result[-1])}\n")
    sys.stdout.write(f"Bookings: {json.dumps(restaurant.bookings)}\n")


if __name__ == "__main__":
    main()
