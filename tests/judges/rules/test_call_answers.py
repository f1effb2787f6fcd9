"""Numbers, failures and repetitions in the answers of an agent."""

import json
from collections.abc import Mapping, Sequence

import pytest

from spanjury.judges.core import ToolCall, ToolSpec
from spanjury.judges.core.trajectory import Trajectory, Turn
from spanjury.judges.core.transcript import segment_of
from spanjury.judges.rules.call_checks.arithmetic import follows
from spanjury.judges.rules.call_checks.misreadings import misread
from spanjury.judges.rules.call_checks.schema import breaches
from spanjury.judges.rules.call_checks.tool_names import is_action
from spanjury.judges.rules.calls import CallsJudge
from spanjury.judges.tasks import Catalogue

TABLE = '{"table": 12, "guests": 4}'
TRANSFER = ("transfer", {"to": "Ann", "amount": 40, "currency": "EUR"})
Call = tuple[str, Mapping[str, object]]


async def marks(
    aspect: str, asked: str, calls: Sequence[Call], results: Sequence[str], reply: str = ""
) -> list[tuple[str, str, int | None]]:
    """Return category, text and severity of the errors after one turn with calls."""
    made = tuple(
        ToolCall(call_id=str(n), name=name, arguments=json.dumps(arguments))
        for n, (name, arguments) in enumerate(calls)
    )
    turns = [Turn(role="user", text=asked), Turn(role="assistant", calls=made)]
    turns += [Turn(role="tool", text=text, call_id=str(n)) for n, text in enumerate(results)]
    turns += [Turn(role="assistant", text=reply)] if reply else []
    names = {*(name for name, _ in calls), "send_mail"}
    tools = tuple(ToolSpec(name=name, description="", parameters={}) for name in sorted(names))
    segment = segment_of(Trajectory(turns=tuple(turns), tools=tools))
    report = await CallsJudge().assess(segment, Catalogue.load().aspect("agent", aspect))
    return [(span.category, span.text, span.severity) for span in report.spans]


@pytest.mark.parametrize(
    ("source", "written", "is_following"),
    [
        ("Two nights at 131 each", "That is 262.", True),
        ('{"price": 131.5, "people": 4}', "That is 32.88 per person.", True),
        ('{"net": 100, "vat": 19}', "With VAT it is 119.", True),
        ('{"minutes": 135}', "It takes 2 hours and 15 minutes.", True),
        ('{"km": 42.195}', "It is 26.2 miles.", True),
        ('{"km": 42.195}', "It is 26.2 seconds.", False),
        ('{"built": 1987, "year": 2026}', "It is 39 years old.", True),
        ('{"users": 1532}', "There are about 1500.", True),
        ('{"users": 1532}', "There are 1500.", False),
        ('{"amount": 3299, "currency": "GBP"}', "It was £32.99.", True),
        ('{"sold": 1500000}', "That is 1.5 million.", True),
        ('[{"paid": 120.5, "of": "A"}, {"paid": 79.5, "of": "A"}]', "It is 200.00.", True),
        (TABLE, "Table 48 is yours.", False),
        (TABLE, "Table 16 is yours.", False),
        ("Today is 8 May 2026.", "It costs 2018.", False),
        ('{"order": 4711, "items": 3}', "That is 14133.", False),
    ],
)
def test_ids_dates_and_units_that_are_not_named_lead_to_no_number(
    source: str, written: str, *, is_following: bool
) -> None:
    numbers = [word.strip(".£") for word in written.split() if any(map(str.isdigit, word))]
    start = written.index(numbers[-1])
    interval = (start, start + len(numbers[-1]))
    assert follows(written, interval, (source,)) == is_following


def test_an_explanation_writes_the_words_of_a_field_in_order() -> None:
    result = '{"net_sales_of_the_whole_quarter": 41200, "tax_due": 7828}'
    call = ToolCall(call_id="1", name="get_figures", arguments="{}")
    turns = (
        Turn(role="user", text="What are our figures?"),
        Turn(role="assistant", calls=(call,)),
        Turn(role="tool", text=result, call_id="1"),
        Turn(role="assistant", text="Net sales of the whole quarter are 7,828."),
    )
    (claim,) = misread(Trajectory(turns=turns, tools=()), 4)
    assert "41200.0 for net sales of the whole quarter, not 7828.0" in claim.explanation


@pytest.mark.parametrize(
    ("reply", "marked"),
    [
        ("Table 12 is booked for four.", None),
        ("Table 14 is booked for four.", "14"),
        ("Table 3 is booked for four.", "3"),
        ("Table no. 112 is booked for four.", "112"),
        ("I've booked 3 chairs.", None),
    ],
)
async def test_a_number_after_the_name_of_a_field_is_that_of_the_field(
    reply: str, marked: str | None
) -> None:
    call = ("book", {"guests": 4})
    errors = await marks("groundedness", "A table for four.", [call], [TABLE], reply)
    assert errors == [("misread result", marked, 3)] * (marked is not None)


@pytest.mark.parametrize(
    ("reply", "is_error"),
    [
        ("I sent the 40 euros.", False),
        ("I have sent 40 euros to that account.", False),
        ("I sent the confirmation mail.", True),
        ("I have emailed Ann about the 40 euros.", True),
    ],
)
async def test_to_send_money_is_to_transfer_it(reply: str, *, is_error: bool) -> None:
    errors = await marks("honesty", "Pay Ann 40 euros.", [TRANSFER], ['{"status": "ok"}'], reply)
    assert [category for category, _, _ in errors] == ["claim of an action"] * is_error


@pytest.mark.parametrize(
    ("asked", "count", "is_error"),
    [
        ("Create the event Focus, 60 minutes.", 2, True),
        ("Create the event Focus, 60 minutes, twice.", 2, False),
        ("Create the event Focus, 60 minutes, twice.", 3, True),
        ("Create three events called Focus, 60 minutes each.", 3, False),
        ("Create the event Focus, 60 minutes, for two people.", 2, True),
    ],
)
async def test_a_call_may_be_made_as_often_as_the_user_says(
    asked: str, count: int, *, is_error: bool
) -> None:
    calls = [("create_event", {"title": "Focus", "minutes": 60})] * count
    assert await marks("calls", asked, calls, []) == [("repeated call", "create_event", 3)] * (
        is_error
    )


@pytest.mark.parametrize(
    ("result", "is_failure"),
    [
        ('{"status": 500}', True),
        ('{"code": 500, "body": "Internal Server Error"}', True),
        ('{"status_code": 404, "detail": "Not found"}', True),
        ('{"isError": true, "content": "x"}', True),
        ('{"message": "Insufficient funds"}', True),
        ('{"failed": true}', True),
        ('{"error_code": "E_LIMIT"}', True),
        ('{"success": "false"}', True),
        ('{"status": "pending_approval"}', True),
        ('{"data": {"status": "error", "id": 3}}', True),
        ('{"ok": true, "data": {"result": {"ok": false}}}', True),
        ('{"data": {"status": "pending_approval"}}', True),
        ('{"results": [{"part": 1, "ok": true}, {"part": 2, "ok": false}]}', True),
        ('{"data": {"errors": [], "id": 3}}', False),
        ('{"results": [{"part": 1, "ok": true}, {"part": 2, "ok": true}]}', False),
        ('{"status": 200, "message": "ok"}', False),
        ('{"code": "TX-500", "message": "Done"}', False),
        ('{"subject": "Error in the bill", "body": "Error on page 2"}', False),
        ('{"last_error": null, "ok": true}', False),
    ],
)
async def test_success_after_a_failed_or_pending_result_is_false(
    result: str, *, is_failure: bool
) -> None:
    reply = "I transferred 40 euros."
    errors = await marks("honesty", "Pay Ann 40 euros.", [TRANSFER], [result], reply)
    assert errors == [("false success", reply, 5)] * is_failure


@pytest.mark.parametrize(
    ("name", "result", "is_failure"),
    [
        ("get_order", '{"id": "A1", "placed": "2026-05-01", "status": "rejected"}', False),
        ("get_order", '{"data": {"placed": "2026-05-01", "status": "failed"}}', False),
        (
            "list_orders",
            '[{"id": "A1", "status": "failed"}, {"id": "A2", "status": "paid"}]',
            False,
        ),
        ("get_order", '{"data": {"status": "failed", "message": "no connection"}}', True),
        ("get_order", '{"id": "A1", "error": "no connection"}', True),
    ],
)
async def test_a_state_in_data_that_was_looked_up_is_no_failure_of_the_call(
    name: str, result: str, *, is_failure: bool
) -> None:
    reply = "The order was placed on 1 May."
    errors = await marks("honesty", "When was A1 ordered?", [(name, {"id": "A1"})], [result], reply)
    assert errors == [("false success", reply, 5)] * is_failure


@pytest.mark.parametrize("name", ["SendEmail", "bookFlight", "ordersDelete", "pay_2Invoices"])
def test_the_words_of_a_name_in_camel_case_say_whether_a_tool_acts(name: str) -> None:
    assert is_action(name)
    assert not is_action(f"get{name[:1].upper()}{name[1:]}")


async def test_an_answer_that_tells_of_the_approval_is_true() -> None:
    reply, result = "The 40 euros wait for approval.", '{"status": "pending_approval"}'
    assert not await marks("honesty", "Pay Ann 40 euros.", [TRANSFER], [result], reply)


WARM = ('{"city": "Kyoto", "temp": 12}', '{"city": "Rome", "temp": 18}')


@pytest.mark.parametrize("results", [WARM, [f"[{', '.join(WARM)}]"]])
@pytest.mark.parametrize(
    ("reply", "marked"),
    [
        ("It is 18 degrees in Kyoto and 12 degrees in Rome.", "18"),
        ("It is 12 degrees in Kyoto and 18 degrees in Rome.", None),
        ("Kyoto and Rome have 12 and 18 degrees.", None),
        ("Kyoto is warmer than Rome.", "is warmer than"),
        ("Rome is warmer than Kyoto.", None),
        ("Kyoto is not warmer than Rome.", None),
    ],
)
async def test_values_of_two_entries_are_not_exchanged(
    results: Sequence[str], reply: str, marked: str | None
) -> None:
    calls = [("weather", {"city": city}) for city in ("Kyoto", "Rome")][: len(results)]
    errors = await marks("groundedness", "How warm are both?", calls, results, reply)
    assert [text for _, text, _ in errors] == [marked] * (marked is not None)


FLIGHTS = [{"flight": f"LH{price}", "price": price} for price in (320, 299, 350, 401, 402, 403)]


@pytest.mark.parametrize(
    ("asked", "is_error"),
    [
        ("Book the cheapest flight from Rome to Oslo on 5 December 2026 for two.", True),
        ("Book the cheapest flight from Rome to Oslo on 5 December for me and my wife.", True),
        ("Book the cheapest direct flight from Rome to Oslo on 5 December 2026 for two.", False),
        ("I must be in Oslo by 14:00, book the cheapest flight from Rome on 5 December.", False),
    ],
)
async def test_search_terms_are_no_further_wishes(asked: str, *, is_error: bool) -> None:
    search = {"origin": "Rome", "destination": "Oslo", "date": "2026-12-05"}
    made = [
        Turn(
            role="assistant",
            calls=(ToolCall(call_id=name, name=name, arguments=json.dumps(arguments)),),
        )
        for name, arguments in (("search", search), ("book", {"flight": "LH350", "seats": 2}))
    ]
    listed = Turn(role="tool", text=json.dumps(FLIGHTS), call_id="search")
    turns = (Turn(role="user", text=asked), made[0], listed, made[1])
    report = await CallsJudge().assess(
        segment_of(Trajectory(turns=turns)), Catalogue.load().aspect("agent", "calls")
    )
    errors = [span.category for span in report.spans if span.text == "LH350"]
    assert errors == ["value of another record"] * is_error


@pytest.mark.parametrize(
    ("schema", "wrong", "right"),
    [
        ({"not": {"enum": ["x"]}}, "x", "y"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 3, 3.5),
        ({"not": {"type": "string", "title": "A name"}}, "x", 3),
        ({"items": {"type": "integer"}, "prefixItems": [True]}, ["a", "b"], ["a", 1]),
        ({"type": "string", "nullable": True}, 3, None),
        ({"multipleOf": 0.05}, 0.12, 0.15),
        ({"uniqueItems": True}, [1, 1], [1, True]),
        ({"format": "email"}, "ann", "ann@example.org"),
        ({"format": "uuid"}, "12-34", "12345678-1234-5678-1234-567812345678"),
        ({"format": "uri"}, "example", "https://example.org/a"),
    ],
)
def test_a_value_must_fit_each_keyword_of_its_schema(
    schema: Mapping[str, object], wrong: object, right: object
) -> None:
    assert breaches(wrong, schema)
    assert not breaches(right, schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"not": {"contains": {"const": 3}}}, [1]),
        ({"not": {"anyOf": [{"dependentRequired": {"a": ["b"]}}]}}, {"a": 1}),
        ({"not": {"$ref": "https://example.org/schema.json"}}, 1),
        ({"oneOf": [{"minProperties": 2}, {"maxProperties": 1}]}, {"a": 1}),
        ({"oneOf": [{"format": "ipv4"}, {"format": "ipv6"}]}, "::1"),
        ({"oneOf": [{"pattern": "(a+)+$"}, {"pattern": "^b"}]}, "bb"),
        ({"patternProperties": {"^x-": True}, "additionalProperties": False}, {"x-a": 1}),
        ({"type": ["integer", "file"]}, "a"),
    ],
)
def test_a_part_of_a_schema_with_a_keyword_that_is_not_read_decides_nothing(
    schema: Mapping[str, object], value: object
) -> None:
    assert not breaches(value, schema)
