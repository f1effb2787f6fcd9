"""Values that an agent makes up: sums of money, guests, days, ids in messages, guessed ids."""

import json
from collections.abc import Mapping

import pytest

from spanjury.judges.core import ToolCall
from spanjury.judges.core.trajectory import Trajectory, Turn
from spanjury.judges.core.transcript import segment_of
from spanjury.judges.rules.calls import CallsJudge
from spanjury.judges.tasks import Catalogue

Errors = list[tuple[str, str]]

TODAY = Turn(role="system", text="Today is Monday 4 May 2026.")
NOWHERE, ALTERED, EARLY = "value from nowhere", "altered value", "value before its result"
ORDER = {
    "order": "A-20931",
    "items": [
        {"sku": "MUG-1", "qty": 2, "price": 12.5},
        {"sku": "PAN-7", "qty": 1, "price": 49.9},
    ],
    "shipping": 4.9,
}


def asking(text: str) -> Turn:
    return Turn(role="user", text=text)


def calling(name: str, /, **arguments: object) -> Turn:
    call = ToolCall(call_id=name, name=name, arguments=json.dumps(arguments))
    return Turn(role="assistant", calls=(call,))


def result(name: str, value: object) -> Turn:
    return Turn(role="tool", text=json.dumps(value), call_id=name)


async def errors(*turns: Turn) -> Errors:
    segment = segment_of(Trajectory(turns=(TODAY, *turns)))
    report = await CallsJudge().assess(segment, Catalogue.load().aspect("agent", "calls"))
    return [(span.category, span.text) for span in report.spans]


def nowhere(text: object) -> Errors:
    return [(NOWHERE, json.dumps(text))]


@pytest.mark.parametrize(
    ("asked", "amount", "expected"),
    [
        ("Refund 40 euros, 5 of the 8 glasses were broken.", 40, []),
        ("Refund 40 euros, 5 of the 8 glasses were broken.", 45, nowhere(45)),
        ("Refund 40 euros, 5 of the 8 glasses were broken.", 35, nowhere(35)),
        ("Refund 40 euros, 5 of the 8 glasses were broken.", 60, nowhere(60)),
        ("Refund 250 euros for room 12.", 262, nowhere(262)),
        ("Refund 250 euros for room 12.", 205, [(ALTERED, "205")]),
        ("Refund half of the 80 euros.", 40, []),
        ("Refund 2 of 5 nights at 131 euros.", 262, []),
        ("Refund the 1,200 euros, less 350 and 200 euros.", 650, []),
        ("I drove 60 km at 0.38 EUR a kilometre, and back.", 45.6, []),
        ("Overtime is paid at 22 an hour, I worked 171.5 and not 160 hours.", 253.0, []),
        ("The bill was 48.50, with 15 % on top.", 55.78, []),
    ],
)
async def test_a_sum_of_money_follows_from_sums_of_money(
    asked: str, amount: float, expected: Errors
) -> None:
    assert await errors(asking(asked), calling("pay_order", amount=amount)) == expected


@pytest.mark.parametrize(
    ("amount", "expected"), [(25.0, []), (74.9, []), (42.42, []), (51.9, nowhere(51.9))]
)
async def test_a_sum_of_money_may_follow_from_a_result(amount: float, expected: Errors) -> None:
    asked = asking("Refund order A-20931. A fee of 15 % is kept for pans.")
    looked = (calling("get_order", order="A-20931"), result("get_order", ORDER))
    assert await errors(asked, *looked, calling("refund_order", amount=amount)) == expected


async def test_from_many_sums_any_sum_may_follow() -> None:
    asked = asking(f"Refund {', '.join(f'{number} euros' for number in range(100, 130))}.")
    assert await errors(asked, calling("refund_order", amount=999)) == []


@pytest.mark.parametrize(
    ("asked", "guests", "expected"),
    [
        ("A table for four, for 2 hours.", 4, []),
        ("A table for four, for 2 hours.", 6, nowhere(6)),
        ("A quiet table for 12, please.", 21, nowhere(21)),
        ("A table for four and one more.", 5, []),
        ("A table for two hours. We are 4.", 4, []),
    ],
)
async def test_a_table_is_for_as_many_as_were_named(
    asked: str, guests: int, expected: Errors
) -> None:
    assert await errors(asking(asked), calling("book_table", guests=guests)) == expected


@pytest.mark.parametrize(
    ("asked", "day", "expected"),
    [
        ("On 8 May, for our 3 week anniversary.", "2026-05-29", nowhere("2026-05-29")),
        ("On 8 May, for our 3 week anniversary.", "2026-05-10", nowhere("2026-05-10")),
        ("We were away for 9 days. On 8 May.", "2026-05-17", nowhere("2026-05-17")),
        ("On 8 May for 9 days.", "2026-05-17", []),
        ("In three weeks.", "2026-05-25", []),
        ("On the last day of the week.", "2026-05-10", []),
    ],
)
async def test_a_day_is_counted_on_from_lengths_that_lead_there(
    asked: str, day: str, expected: Errors
) -> None:
    assert await errors(asking(asked), calling("book_room", day=day)) == [
        (category, text.strip('"')) for category, text in expected
    ]


MAIL = "Tell Kim that order A-20931 leaves on 8 May at 14:00 as parcel ZX4410982, invoice 48213."


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Order A-20931 leaves on 8 May at 14:00.", []),
        ("Order A-20931 leaves on Friday 8 May 2026, as parcel ZX4410982.", []),
        ("It leaves on Friday, see https://example.org/parcels/ZX1.", []),
        ("Order A-20913 leaves soon.", [(ALTERED, "A-20913")]),
        ("Order A-77120 leaves soon.", [(NOWHERE, "A-77120")]),
        ("Your parcel is ZX9910000.", [(NOWHERE, "ZX9910000")]),
        ("The invoice is 51877.", [(NOWHERE, "51877")]),
        ("It leaves on 9 May at 14:00.", [(NOWHERE, "9 May")]),
        ("It leaves on 2026-05-09.", [(NOWHERE, "2026-05-09")]),
        ("It leaves on 8 May at 15:00.", [(NOWHERE, "15:00")]),
    ],
)
async def test_ids_dates_and_times_of_a_message_were_given(body: str, expected: Errors) -> None:
    assert await errors(asking(MAIL), calling("send_mail", to="Kim", body=body)) == expected


CLOSED: Mapping[str, object] = {"ok": True}


@pytest.mark.parametrize(
    ("ticket", "listed"), [("T-991", "T-991"), ("T-9917", "T-9917"), ("9917", 9917)]
)
async def test_an_id_is_guessed_if_a_later_look_up_finds_it(ticket: str, listed: object) -> None:
    asked = asking("Close the ticket of Kim.")
    closing = calling("close_ticket", ticket=ticket)
    looking = (calling("find_tickets", user="Kim"), result("find_tickets", [{"ticket": listed}]))
    closed = result("close_ticket", CLOSED)
    assert await errors(asked, closing, closed, *looking) == [(EARLY, ticket)]
    assert await errors(asked, *looking, closing) == []
    both = Turn(role="assistant", calls=(looking[0].calls[0], closing.calls[0]))
    assert await errors(asked, both, looking[1], closed) == [(EARLY, ticket)]


async def test_a_number_of_identity_is_guessed_as_well() -> None:
    closing = calling("close_account", account_id=4821)
    looking = (calling("find_accounts", user="Kim"), result("find_accounts", {"account": 4821}))
    turns = (asking("Close the account of Kim."), closing, result("close_account", CLOSED))
    assert await errors(*turns, *looking) == [(EARLY, "4821")]
    assert await errors(*turns) == []


async def test_what_a_call_gives_its_name_to_is_no_guess() -> None:
    uploading = calling("upload_file", name="minutes-2026.pdf")
    listed = (calling("list_files"), result("list_files", ["minutes-2026.pdf"]))
    turns = (asking("Upload the minutes."), uploading, result("upload_file", CLOSED), *listed)
    assert await errors(*turns) == []
