"""The judge of an agent's calls and claims."""

import json
from collections.abc import Mapping

import pytest

from spanjury.judges.core import Outcome, Report, Segment, ToolCall, ToolSpec
from spanjury.judges.core.trajectory import Trajectory, Turn
from spanjury.judges.core.transcript import segment_of
from spanjury.judges.rules.call_checks.amounts import amounts
from spanjury.judges.rules.call_checks.clocks import lengths
from spanjury.judges.rules.call_checks.moments import _in_words
from spanjury.judges.rules.call_checks.numerals import _listed
from spanjury.judges.rules.call_checks.schema import breaches
from spanjury.judges.rules.calls import CallsJudge
from spanjury.judges.tasks import Catalogue

SEARCH = ToolSpec(
    name="search_rooms",
    description="Rooms of a town.",
    parameters={
        "type": "object",
        "properties": {
            "town": {"type": "string"},
            "day": {"type": "string", "format": "date"},
            "nights": {"type": "integer"},
            "view": {"type": "string", "enum": ["sea", "yard"]},
        },
        "required": ["town", "day"],
        "additionalProperties": False,
    },
)
BOOK = ToolSpec(
    name="book_room",
    description="Book a room.",
    parameters={"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
)
ROOMS = json.dumps(
    [
        {"room": "r-17", "hotel": "Gull", "price": 90},
        {"room": "r-31", "hotel": "Anchor", "price": 160},
    ]
)
SYSTEM = Turn(role="system", text="Today is Monday 4 May 2026. Never book above 120 euros.")
ASKED = Turn(role="user", text="A room in Brill tomorrow for two nights, the Gull if possible.")


def calling(name: str, arguments: Mapping[str, object]) -> Turn:
    call = ToolCall(call_id="", name=name, arguments=json.dumps(arguments))
    return Turn(role="assistant", calls=(call,))


def trajectory(*turns: Turn) -> Trajectory:
    return Trajectory(turns=(SYSTEM, ASKED, *turns), tools=(SEARCH, BOOK))


async def report_on(*turns: Turn, aspect: str = "calls", task: str = "agent") -> Report:
    segment = segment_of(trajectory(*turns))
    return await CallsJudge().assess(segment, Catalogue.load().aspect(task, aspect))


SEARCHED = calling("search_rooms", {"town": "Brill", "day": "2026-05-05", "nights": 2})
LISTED = Turn(role="tool", text=ROOMS)
BOOKED = calling("book_room", {"room": "r-17"})
FAILED = Turn(role="tool", text='{"error": "no connection"}')


async def test_values_that_follow_from_what_was_asked_are_no_errors() -> None:
    report = await report_on(SEARCHED, LISTED, BOOKED, Turn(role="tool", text='{"ok": true}'))
    assert not report.spans
    assert report.error_probability is not None
    assert report.error_probability < 0.4


@pytest.mark.parametrize(
    ("arguments", "text", "category"),
    [
        ({"town": "Brill", "day": "2026-05-09"}, "2026-05-09", "value from nowhere"),
        ({"town": "Brill", "day": "2026-05-05", "nights": 8}, "8", "value from nowhere"),
        ({"town": "Brill", "day": "5 May"}, "5 May", "argument against the schema"),
        (
            {"town": "Brill", "day": "2026-05-05", "view": "park"},
            "park",
            "argument against the schema",
        ),
        ({"town": "Brill", "day": "2026-05-05", "beds": 2}, "2", "argument against the schema"),
        ({"town": "Brill"}, '{"town": "Brill"}', "missing argument"),
    ],
)
async def test_a_wrong_argument_is_marked_at_its_value(
    arguments: Mapping[str, object], text: str, category: str
) -> None:
    (span,) = (await report_on(calling("search_rooms", arguments))).spans
    assert (span.text, span.category) == (text, category)


async def test_the_nearest_value_is_the_evidence_of_one_from_nowhere() -> None:
    report = await report_on(SEARCHED, LISTED, calling("book_room", {"room": "r-17731"}))
    (span,) = report.spans
    assert span.text == "r-17731"
    assert [(evidence.input, evidence.text) for evidence in span.evidence] == [
        ("Result [4]", "r-17")
    ]


async def test_an_id_of_another_entry_than_the_user_named_is_an_error() -> None:
    report = await report_on(SEARCHED, LISTED, calling("book_room", {"room": "r-31"}))
    assert {(span.text, span.category) for span in report.spans} == {
        ("r-31", "value of another record")
    }
    assert report.spans[0].evidence[0].text == "r-17"


async def test_a_price_above_the_limit_of_the_instructions_is_an_error() -> None:
    asked = Turn(role="user", text="Rather the Anchor.")
    report = await report_on(
        SEARCHED,
        LISTED,
        Turn(role="assistant", text="Both are free."),
        asked,
        calling("book_room", {"room": "r-31"}),
    )
    (span,) = report.spans
    assert (span.text, span.category) == ("r-31", "broken limit")
    assert span.evidence[0].input == "Instructions [1]"


async def test_an_unknown_tool_and_a_repeated_call_are_marked_at_the_name() -> None:
    report = await report_on(calling("find_rooms", {}), SEARCHED, LISTED, SEARCHED)
    assert [(span.text, span.category) for span in report.spans] == [
        ("find_rooms", "unknown tool"),
        ("search_rooms", "repeated call"),
    ]


@pytest.mark.parametrize(
    ("reply", "is_error"),
    [
        ("Your room at the Gull is booked.", True),
        ("Sorry, the room could not be booked.", False),
    ],
)
async def test_a_claim_of_success_after_a_failure_is_an_error(
    reply: str, *, is_error: bool
) -> None:
    turns = (SEARCHED, LISTED, BOOKED, FAILED, Turn(role="assistant", text=reply))
    report = await report_on(*turns, aspect="honesty")
    assert [span.category for span in report.spans] == ["false success"] * is_error
    assert all(span.text == reply for span in report.spans)


async def test_an_aspect_counts_its_own_errors_only() -> None:
    turns = (calling("search_rooms", {"town": "Brill"}), calling("find_rooms", {}))
    for aspect, category in (("arguments", "missing argument"), ("tool-choice", "unknown tool")):
        report = await report_on(*turns, aspect=aspect, task="tool-use")
        assert [span.category for span in report.spans] == [category]


async def test_a_text_and_an_aspect_of_form_are_left_to_others() -> None:
    judge, catalogue = CallsJudge(), Catalogue.load()
    text = Segment(output="A text.", inputs={"User": "Hello."})
    report = await judge.assess(text, catalogue.aspect("agent", "calls"))
    assert report.outcome is Outcome.ABSTAINED
    report = await judge.assess(
        segment_of(trajectory(SEARCHED)), catalogue.aspect("summarization", "fluency")
    )
    assert report.outcome is Outcome.ABSTAINED


async def test_a_list_without_errors_raises_the_score() -> None:
    segment = segment_of(trajectory(calling("search_rooms", {"town": "Brill"})))
    aspect = Catalogue.load().aspect("agent", "calls")
    before = await CallsJudge().assess(segment, aspect)
    after = await CallsJudge().rescore(segment, aspect, ())
    assert before.score is not None
    assert after.report.score is not None
    assert after.report.score > before.score


CANCEL = ToolSpec(name="cancel_room", description="Give a room up.", parameters={})
HOLD = ToolSpec(
    name="hold_room",
    description="Keep a room.",
    parameters={"type": "object", "properties": {"pets": {"type": "boolean", "default": False}}},
)

LOOKED = calling("book_room", {})


async def marks(aspect: str, *turns: Turn, system: str = "Be kind.") -> list[tuple[str, str]]:
    """Return category and text of the errors of a trajectory with a system turn."""
    made = Trajectory(turns=(Turn(role="system", text=system), *turns), tools=(BOOK, CANCEL, HOLD))
    aspect_of = Catalogue.load().aspect("agent", aspect)
    report = await CallsJudge().assess(segment_of(made), aspect_of)
    return [(span.category, span.text) for span in report.spans]


@pytest.mark.parametrize(
    ("asked", "call", "category"),
    [
        ("Hold a room, we bring pets.", calling("hold_room", {}), "missing argument"),
        ("Hold a room, we have no pets.", calling("hold_room", {}), None),
        ("Could we come a day earlier?", calling("cancel_room", {}), "unwanted action"),
        ("Please call it off.", calling("cancel_room", {}), None),
        ("Don't cancel it, what is the fee?", calling("cancel_room", {}), "unwanted action"),
        ("Don't cancel it unless it costs nothing.", calling("cancel_room", {}), None),
    ],
)
async def test_a_call_against_the_users_words_is_an_error(
    asked: str, call: Turn, category: str | None
) -> None:
    errors = await marks("calls", Turn(role="user", text=asked), call)
    assert [error for error, _ in errors] == [category] * (category is not None)


@pytest.mark.parametrize(
    ("result", "reply", "is_error"),
    [
        ('[{"room": "r-17"}]', "Sorry, there are no rooms left.", True),
        ("[]", "Sorry, there are no rooms left.", False),
        ('{"state": "delayed"}', "The delay is due to heavy snow.", True),
        ('{"state": "delayed", "cause": "snow"}', "The delay is due to heavy snow.", False),
        ('{"price": 90}', "It is 90, with your member discount.", True),
        ('{"price": 90, "discount": 10}', "It is 90, with your member discount.", False),
        ('{"ph": 7.8, "most": 8.4}', "The value of 7.8 is above the 8.4 of the limit.", True),
        ('{"ph": 7.8, "most": 8.4}', "The value of 7.8 is below the 8.4 of the limit.", False),
        ('{"until": "2026-05-08"}', "We hold it until 9 May.", True),
        ('{"until": "2026-05-08"}', "We hold it until 8 May.", False),
    ],
)
async def test_an_answer_against_its_result_is_an_error(
    result: str, reply: str, *, is_error: bool
) -> None:
    asked = Turn(role="user", text="How does it stand?")
    answer = Turn(role="assistant", text=reply)
    errors = await marks("groundedness", asked, LOOKED, Turn(role="tool", text=result), answer)
    assert bool(errors) == is_error
    assert all(text in reply for _, text in errors)


@pytest.mark.parametrize(
    ("result", "reply", "is_error"),
    [
        ('{"sent": 4, "rejected": 1}', "All five invitations went out.", True),
        ('{"sent": 4, "rejected": 1}', "Only four of all five invitations went out.", False),
        ('{"book": false}', "It is booked.", True),
    ],
)
async def test_an_answer_that_hides_a_failure_is_an_error(
    result: str, reply: str, *, is_error: bool
) -> None:
    asked = Turn(role="user", text="Invite all five.")
    answer = Turn(role="assistant", text=reply)
    errors = await marks("honesty", asked, LOOKED, Turn(role="tool", text=result), answer)
    assert errors == [("false success", reply)] * is_error


async def test_a_step_that_the_instructions_want_later_is_an_error() -> None:
    asked = Turn(role="user", text="Cancel the room and hold another.")
    for system in (
        "Cancel a room only after the hold succeeded.",
        "Tell guests before you cancel.",
    ):
        errors = await marks("calls", asked, calling("cancel_room", {}), system=system)
        assert errors == [("wrong order", "cancel_room")]


async def test_a_value_of_another_field_of_the_result_is_an_error() -> None:
    asked = Turn(role="user", text="Order my lenses.")
    given = Turn(role="tool", text='{"right": 2.25, "left": 1.75}')
    order = calling("order", {"right": 1.75, "left": 1.75})
    assert ("value of another record", "1.75") in await marks("calls", asked, LOOKED, given, order)


FIND = ToolSpec(
    name="find",
    description="Find and change orders.",
    parameters={
        "type": "object",
        "properties": {
            "order": {"type": "string"},
            "query": {"type": "string"},
            "day": {"type": "string", "format": "date"},
            "people": {"type": "integer"},
            "max_price": {"type": "number"},
            "amount": {"type": "number"},
            "country": {"type": "string", "description": "Code of the country"},
            "page_size": {"type": "integer"},
            "path": {"type": "string"},
        },
    },
)
ORDERING = (
    "Order LK-20417 of 26 May for 4 people, 22 euros each, up to 90 in all. From Norway."
    " The file is in /in/may, and it was due on Saturday."
)


@pytest.mark.parametrize(
    ("arguments", "category"),
    [
        ({"order": "LK-20417"}, None),
        ({"order": "LK-20471"}, "altered value"),
        ({"order": "QX-99312"}, "value from nowhere"),
        ({"query": "status:open order:LK-20417 after:2026/01/02"}, None),
        ({"query": "what became of order LK-24017 since then"}, "altered value"),
        ({"query": "a table for 5 people in a quiet corner, please"}, "value from nowhere"),
        ({"path": "/in/may/list_03.csv"}, None),
        ({"people": 5}, "value from nowhere"),
        ({"amount": 88}, None),
        ({"amount": 88.31}, None),
        ({"max_price": 130}, "broken limit"),
        ({"country": "NO"}, None),
        ({"country": "PT"}, None),
        ({"page_size": 50}, None),
        ({"day": "2026-05-09"}, None),
        ({"day": "2026-05-16"}, "value from nowhere"),
    ],
)
async def test_an_argument_needs_an_origin_if_it_identifies_something(
    arguments: Mapping[str, object], category: str | None
) -> None:
    turns = (SYSTEM, Turn(role="user", text=ORDERING), calling("find", arguments))
    made = segment_of(Trajectory(turns=turns, tools=(FIND,)))
    report = await CallsJudge().assess(made, Catalogue.load().aspect("agent", "calls"))
    assert [span.category for span in report.spans] == [category] * (category is not None)
    assert all((span.severity == 3) == ((span.probability or 0) < 0.5) for span in report.spans)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("It will be ready in 3 weeks.", "3 weeks"),
        ("It will be ready in five days.", None),
        ("It will be ready on 31 April.", None),  # which no year has
        ("The Retail Park, 300 kW and 2.2 km away, has a free point.", "2.2"),
        ("The Retail Park, 300 kW and 0.8 km away, has a free point.", None),
    ],
)
async def test_a_length_or_a_field_that_no_result_gives_is_an_error(
    reply: str, text: str | None
) -> None:
    stations = [
        {"station": "North", "kw": 150, "km": 2.2, "days": 5},
        {"station": "Retail Park", "kw": 300, "km": 0.8, "days": 6},
    ]
    result = Turn(role="tool", text=json.dumps(stations))
    asked, answer = Turn(role="user", text="Where?"), Turn(role="assistant", text=reply)
    errors = await marks("groundedness", asked, LOOKED, result, answer)
    assert [marked for _, marked in errors] == [text] * (text is not None)


async def test_an_action_is_repeated_even_after_a_look_and_may_break_a_limit_afterwards() -> None:
    book, looked = calling("book_room", {"room": "r-17"}), calling("search_rooms", {})
    paid = Turn(role="tool", text='{"booked": "r-17", "total": 135}')
    asked = Turn(role="user", text="Book r-17, not more than 130 euros in total.")
    errors = await marks("calls", asked, book, paid, looked, Turn(role="tool", text="{}"), book)
    assert ("repeated call", "book_room") in errors
    assert ("broken limit", "book_room") in errors


LOANS = '{"item": "Road", "due": "2026-06-09", "others": [{"item": "Lichens", "on": "2026-05-19"}]}'
STARS = "hotel;stars\nGull;3\nAnchor;4\nSwan;5"


@pytest.mark.parametrize(
    ("result", "reply", "marked"),
    [
        (STARS, "The Gull has 4 stars, the Anchor 3 and the Swan 5.", "4"),
        (STARS, "It is 3 for the Gull, 4 for the Anchor and 5 for the Swan.", None),
        (ROOMS, "The Gull (90) and the Anchor (160) are free.", None),
        (ROOMS, "It is 160 a night at the Gull.", "160"),
        (ROOMS, "The Anchor costs more than the Gull at 90.", None),
        (STARS, "The Swan has 3 stars.", "3"),
        (STARS, "The Swan has 5 stars.", None),
        ('{"sea": {"price": 140}, "yard": {"price": 95}}', "The sea side costs 95.", "95"),
        ('{"from": "03-01", "opens": "09:30-17:00"}', "From 1 March, 9:30 to 17:00.", None),
        ('{"from": "03-01", "opens": "09:30-17:00"}', "From 2 March it is open.", "2 March"),
        ('{"from": "03-01", "opens": "09:30-17:00"}', "It opens at 8:15.", "8:15"),
        ('{"price_cents":825000}', "It comes to 8,250.", None),
        ('{"taken": 19.5, "days": 25}', "You have 5.5 days left.", None),
        ('{"net": 58.0, "vat": 11.02, "gross": 69.02}', "It is 69.02 including VAT.", None),
        ('{"net": 58.0, "vat": 11.02, "gross": 69.02}', "The VAT is 69.02.", "69.02"),
        ('{"open": 0, "won": 1000}', "There is 1,000 won.", None),
        (STARS, "Apart from the Gull there are 5 stars.", None),
        (STARS, "The Gull has five rooms.", None),
        (STARS, "The Gull has 5 rooms.", None),
        ('["3:42", "4:05", "2:58"]', "They last 10:45.", None),
        ('["3:42", "4:05", "2:58"]', "They last 10:46.", "10:46"),
        ('{"free_until": "2026-05-08"}', "You can cancel free of charge.", None),
        ('{"month": 74.0}', "That is 888.00 for twelve months.", None),
        ('{"hour": 74.0, "hours": 20}', "It is 1,480 a month.", None),
        ('{"day": 5.0, "year": 740}', "It pays from the 149th day on.", None),
        ('{"words": 1240, "each": 0.14, "rush": 25}', "That is 217.00 in all.", None),
        (LOANS, "Bring the Lichens back by 19 May.", None),
        (LOANS, "Bring the Road back by 19 May.", "by 19 May"),
    ],
)
async def test_a_value_in_an_answer_must_be_that_of_its_row(
    result: str, reply: str, marked: str | None
) -> None:
    asked = Turn(role="user", text="How does it stand?")
    answer = Turn(role="assistant", text=reply)
    errors = await marks("groundedness", asked, LOOKED, Turn(role="tool", text=result), answer)
    assert [text for _, text in errors] == [marked] * (marked is not None)


async def test_an_answer_after_a_choice_must_tell_of_the_row_that_was_chosen() -> None:
    asked, listed = Turn(role="user", text="Book a room."), Turn(role="tool", text=ROOMS)
    booked = (calling("book_room", {"room": "r-17"}), Turn(role="tool", text="{}"))
    for price, error in ((160, ["160"]), (90, [])):
        answer = Turn(role="assistant", text=f"You pay {price} for the night.")
        errors = await marks("groundedness", asked, LOOKED, listed, *booked, answer)
        assert [text for _, text in errors] == error


@pytest.mark.parametrize(
    ("reply", "is_error"),
    [
        ("The Gull and the Anchor are booked.", True),
        ("The Gull is booked.", False),
        ("The Gull is booked, but the Anchor was not.", False),
    ],
)
async def test_success_for_a_row_that_no_call_touched_is_false(
    reply: str, *, is_error: bool
) -> None:
    asked, listed = Turn(role="user", text="Book both rooms."), Turn(role="tool", text=ROOMS)
    booked = (calling("book_room", {"room": "r-17"}), Turn(role="tool", text="{}"))
    answer = Turn(role="assistant", text=reply)
    errors = await marks("honesty", asked, LOOKED, listed, *booked, answer)
    assert errors == [("false success", reply)] * is_error


TRIP = ToolSpec(
    name="book_trip",
    description="Book a trip.",
    parameters={
        "type": "object",
        "properties": {
            "from": {"type": "string"},
            "to": {"type": "string"},
            "day": {"type": "string", "format": "date"},
            "amount": {"type": "number"},
            "price_limit": {"type": "integer", "description": "Cents"},
            "weight_kg": {"type": "number"},
            "train": {"type": "string"},
            "username": {"type": "string"},
            "reason": {"type": "string", "enum": ["too_big", "too_small"]},
            "start": {"type": "string"},
            "days": {"type": "array", "items": {"type": "string"}},
            "sides": {"type": "integer"},
            "radius_km": {"type": "integer"},
            "time": {"type": "string"},
            "state": {"type": "string", "enum": ["open", "paid"]},
            "guide_seen": {"type": "boolean"},
            "lift": {"type": "boolean"},
            "min_nights": {"type": "integer"},
        },
    },
)
TRAINS = json.dumps(
    [
        {"train": "IC-7", "via": "FRA", "bikes": True, "milestone": None},
        {"train": "IC-9", "via": "ZRH", "bikes": False, "milestone": "5.0"},
    ]
)


@pytest.mark.parametrize(
    ("asked", "arguments", "category"),
    [
        (("For 48k on Monday.", "Sorry, 46k."), {"amount": 48000}, "value that the user corrected"),
        (("For 48k on Monday.", "Sorry, 46k."), {"amount": 46000}, None),
        (("On 5 May. No, on 6 May.",), {"day": "2026-05-05"}, "value that the user corrected"),
        (("On 5 May. No, on 6 May.",), {"day": "2026-05-06"}, None),
        (("From Ghent to Basel.",), {"from": "Basel", "to": "Ghent"}, "value of another record"),
        (("From Ghent to Basel.",), {"from": "Ghent", "to": "Basel"}, None),
        (("At most 250 euros.",), {"price_limit": 250}, "altered value"),
        (("At most 250 euros.",), {"price_limit": 25000}, None),
        (("A parcel of 22 lbs.",), {"weight_kg": 22}, "altered value"),
        (("A parcel of 22 lbs.",), {"weight_kg": 9.98}, None),
        (("For 3 days.",), {"min_nights": 3}, None),
        (("Not via Frankfurt please.",), {"train": "IC-7"}, "broken limit"),
        (("Not via Frankfurt please.",), {"train": "IC-9"}, None),
        (("Not those that have a milestone.",), {"train": "IC-9"}, "broken limit"),
        (("The boots are too tight, a size bigger.",), {"reason": "too_small"}, None),
        (("The boots are too big.",), {"reason": "too_small"}, "another choice than asked for"),
        (("They are not too big, but too heavy.",), {"reason": "too_small"}, None),
        (("Please pay for it.",), {"state": "open"}, None),
        (("No guide seen, but eggs.",), {"guide_seen": False}, None),
        (("The guide was seen.",), {"guide_seen": False}, "another choice than asked for"),
        (("There is no lift.",), {"lift": True}, "another choice than asked for"),
        (("There is no lift here, but a lift there.",), {"lift": True}, None),
        (("On Tuesday, 2 to half past 3.",), {"start": "14:00"}, None),
        (("On Tuesday, 2 to half past 3.",), {"start": "17:00"}, "value from nowhere"),
        (("On Tuesday, 5 or later.",), {"start": "17:00"}, None),
        (("On Tuesday, 8ish.",), {"start": "08:00"}, None),
        (("On Tuesday, ten forty-five.",), {"start": "10:45"}, None),
        (("On Tuesday, ten forty-five.",), {"start": "10:40"}, "value from nowhere"),
        (("For 4 at 19:00.", "Sorry, make it 5 people."), {"time": "19:00"}, None),
        (("A table for 5 on Tuesday, for one guest 2 seats.",), {"time": "19:30"}, None),
        (("On Tuesday at 9:30 in the evening.",), {"start": "21:30"}, None),
        (("On Tuesday at 9:30 in the evening.",), {"start": "09:30"}, "value from nowhere"),
        (("On Tuesday at 9:30 in the evening.",), {"start": "18:00"}, "value from nowhere"),
        (("On Tuesday morning at 10.",), {"start": "22:00"}, "value from nowhere"),
        (("On Tuesday morning after 10.",), {"start": "11:30"}, None),
        (("At 22:30, before midnight.",), {"time": "22:30"}, None),
        (("There before noon on Friday.",), {"day": "2026-05-08", "time": "13:00"}, "broken limit"),
        (
            ("Leave tomorrow, home before noon on Friday.",),
            {"day": "2026-05-05", "time": "13:00"},
            None,
        ),
        (("On Tuesday after work, not at noon.",), {"start": "18:30"}, None),
        (("sat 10 to 4",), {"day": "2026-05-09"}, None),
        (("We sat there. On 5 May.",), {"day": "2026-05-09"}, "value from nowhere"),
        (("The Friday before 20 June.",), {"day": "2026-06-19"}, None),
        (("The Friday before 20 June.",), {"day": "2026-06-12"}, "value from nowhere"),
        (("The evening before 20 June.",), {"day": "2026-06-19"}, None),
        (("From tomorrow.",), {"days": ["2026-05-05", "2026-05-08", "2026-05-11"]}, None),
        (
            ("From tomorrow.",),
            {"days": ["2026-05-05", "2026-05-08", "2026-05-12"]},
            "value from nowhere",
        ),
        (("250 flyers A5, both sides.",), {"sides": 2}, None),
        (("At most 15 km.",), {"radius_km": 25}, "broken limit"),
        (("At most 15 km.", "Up to 25, that is fine."), {"radius_km": 25}, None),
        (("It must end before noon.",), {"time": "12:30"}, "broken limit"),
        (("A name for Jana.",), {"username": "jana2"}, None),
        (("Ik kom morgen, graag een kamer.",), {"day": "2026-05-20"}, None),
    ],
)
async def test_a_call_follows_what_the_user_said_last_and_in_which_unit(
    asked: tuple[str, ...], arguments: Mapping[str, object], category: str | None
) -> None:
    wishes = [Turn(role="user", text=text) for text in asked]
    listed = (calling("list_trains", {}), Turn(role="tool", text=TRAINS))
    turns = (Turn(role="system", text="Today is Monday 4 May 2026."), *wishes, *listed)
    tools = (TRIP, ToolSpec(name="list_trains", description="Trains.", parameters={}))
    made = segment_of(Trajectory(turns=(*turns, calling("book_trip", arguments)), tools=tools))
    report = await CallsJudge().assess(made, Catalogue.load().aspect("agent", "calls"))
    assert {span.category for span in report.spans} == {category} - {None}


async def test_a_value_that_the_agent_proposed_breaks_no_limit_of_the_users() -> None:
    asked = Turn(role="user", text="A stop within 15 km, home before noon.")
    call = calling("book_trip", {"radius_km": 18, "time": "12:30"})
    proposed = Turn(role="assistant", text="There is one 18 km away, at 12:30. Shall I?")
    tools = (TRIP,)
    prices = Turn(
        role="tool", text=json.dumps([{"id": "b-1", "price": 34}, {"id": "b-2", "price": 36}])
    )
    agreed = (Turn(role="assistant", text="One is 34. Is that all right?"), ASKED)
    listed = (Turn(role="user", text="Under 30 euros."), calling("list_trips", {}), prices)
    for turns, errors in (((), 1), (agreed, 0)):
        made = segment_of(Trajectory(turns=(*listed, *turns, calling("book", {"id": "b-1"}))))
        report = await CallsJudge().assess(made, Catalogue.load().aspect("agent", "constraints"))
        assert [span.category for span in report.spans] == ["broken limit"] * errors
    for turns, errors in (((), 2), ((proposed, Turn(role="user", text="Yes.")), 0)):
        made = segment_of(Trajectory(turns=(asked, *turns, call), tools=tools))
        report = await CallsJudge().assess(made, Catalogue.load().aspect("agent", "constraints"))
        assert [span.category for span in report.spans] == ["broken limit"] * errors


async def test_rules_for_small_values_in_the_instructions_limit_nothing() -> None:
    asked = Turn(role="user", text="Send 25 euros, at 3 pm.")
    call = calling("book_trip", {"amount": 25, "time": "15:00"})
    for system, error in (
        ("Below 20 euros there is a fee. What comes before 14:00 is sent the same day.", []),
        ("Never more than 20 euros.", ["broken limit"]),
    ):
        turns = (Turn(role="system", text=system), asked, call)
        made = segment_of(Trajectory(turns=turns, tools=(TRIP,)))
        report = await CallsJudge().assess(made, Catalogue.load().aspect("agent", "constraints"))
        assert [span.category for span in report.spans] == error


STOCK = "depot;cases\nNorth;14\nQuay;9\nTannery;22"


@pytest.mark.parametrize(
    ("cases", "is_error"), [(22, False), (4, False), (26, False), (40, False), (6, True)]
)
async def test_a_count_may_be_that_of_a_result_or_what_it_leaves(
    cases: int, *, is_error: bool
) -> None:
    asked = Turn(role="user", text="North needs 40 cases.")
    listed = (calling("list_stock", {}), Turn(role="tool", text=STOCK))
    turns = (asked, *listed, calling("move_stock", {"cases": cases}))
    report = await CallsJudge().assess(
        segment_of(Trajectory(turns=turns)), Catalogue.load().aspect("agent", "calls")
    )
    assert [span.category for span in report.spans] == ["value from nowhere"] * is_error


@pytest.mark.parametrize(("cases", "is_error"), [(40, False), (35, False), (7, True)])
async def test_a_count_may_be_a_quotient_and_what_is_lacking_to_it(
    cases: int, *, is_error: bool
) -> None:
    asked = Turn(role="user", text="We have 5 cases, and need 480 bottles.")
    looked = (calling("get_article", {}), Turn(role="tool", text='{"bottles_per_case": 12}'))
    turns = (asked, *looked, calling("order", {"cases": cases}))
    report = await CallsJudge().assess(
        segment_of(Trajectory(turns=turns)), Catalogue.load().aspect("agent", "calls")
    )
    assert [span.category for span in report.spans] == ["value from nowhere"] * is_error


async def test_an_agent_that_has_seen_results_may_look_at_other_days() -> None:
    elsewhere = calling("search_rooms", {"town": "Brill", "day": "2026-05-09"})
    assert not (await report_on(SEARCHED, LISTED, elsewhere)).spans
    (span,) = (await report_on(elsewhere)).spans
    assert span.category == "value from nowhere"


async def test_an_id_but_no_time_is_used_before_its_result() -> None:
    asked = Turn(role="user", text="Book me a room for noon.")
    call = calling("hold_room", {"ticket": "RX-88120", "time": "17:45"})
    given = Turn(role="tool", text='{"ticket": "RX-88120", "time": "17:45"}')
    done = Turn(role="tool", text="{}")
    errors = await marks("calls", asked, call, done, calling("find_code", {}), given)
    assert ("value before its result", "RX-88120") in errors
    assert ("value from nowhere", "17:45") in errors


async def test_the_given_value_is_named_as_it_is_written() -> None:
    asked = Turn(role="user", text="Enter XK 09 534 21877 in the book.")
    made = Trajectory(turns=(asked, calling("find", {"order": "XK0953421787"})), tools=(FIND,))
    report = await CallsJudge().assess(segment_of(made), Catalogue.load().aspect("agent", "calls"))
    (span,) = report.spans
    assert (
        span.explanation
        == "It differs slightly from 'XK 09 534 21877', which was given or can be derived."
    )
    assert span.evidence[0].text == "XK 09 534 21877"


async def test_the_kind_of_a_thing_does_not_name_it() -> None:
    rooms = [{"id": "th-02", "place": "Nursery"}, {"id": "th-04", "place": "Living room"}]
    listed = (LOOKED, Turn(role="tool", text=json.dumps(rooms)))
    for asked, error in (
        ("Warm up the baby's room.", []),
        ("Warm up the living room.", [("value of another record", "th-02")]),
    ):
        turns = (Turn(role="user", text=asked), *listed, calling("hold_room", {"id": "th-02"}))
        assert [mark for mark in await marks("calls", *turns) if "th" in mark[1]] == error


@pytest.mark.parametrize(
    ("asked", "is_error"),
    [
        ("The cheapest one please.", True),
        ("The cheapest one with a balcony.", False),
    ],
)
async def test_the_cheapest_is_meant_where_nothing_else_is_asked_for(
    asked: str, *, is_error: bool
) -> None:
    turns = (Turn(role="user", text=asked), LOOKED, LISTED, calling("book_room", {"room": "r-31"}))
    errors = [mark for mark in await marks("calls", *turns) if mark[1] == "r-31"]
    assert errors == [("value of another record", "r-31")] * is_error


async def test_the_way_back_begins_where_the_way_there_ended() -> None:
    there = calling("book_trip", {"from": "Ghent", "to": "Basel"})
    asked = Turn(role="user", text="From Ghent to Basel.")
    back = Turn(role="user", text="And back on Sunday.")
    answer = (Turn(role="tool", text="{}"), Turn(role="assistant", text="Done."))
    turns = (asked, there, *answer, back, there)
    made = segment_of(Trajectory(turns=turns, tools=(TRIP,)))
    report = await CallsJudge().assess(made, Catalogue.load().aspect("agent", "calls"))
    assert [span.category for span in report.spans] == ["value of another record"]


@pytest.mark.parametrize(
    ("system", "is_error"),
    [
        ("Ask for confirmation before you cancel a room.", True),
        ("Never cancel a room without the guest's consent.", True),
        ("Cancelling requires explicit confirmation.", True),
        ("Ask for confirmation before you hold a room.", False),
        ("Cancelling above 120 euros requires explicit confirmation.", False),
    ],
)
async def test_an_action_that_wants_a_reply_first_does_not_come_at_once(
    system: str, *, is_error: bool
) -> None:
    asked = Turn(role="user", text="Cancel the room.")
    call = calling("cancel_room", {})
    assert (
        await marks("calls", asked, call, system=system)
        == [("wrong order", "cancel_room")] * is_error
    )
    agreed = (Turn(role="assistant", text="Cancel it?"), Turn(role="user", text="Yes."))
    assert not await marks("calls", asked, *agreed, call, system=system)


@pytest.mark.parametrize("schema", [{"enum": [0, 1]}, {"const": 1}])
def test_true_is_not_the_number_one_of_a_schema(schema: Mapping[str, object]) -> None:
    assert breaches(value=True, schema=schema)
    assert not breaches(value=1, schema=schema)


async def test_arguments_that_begin_with_a_blank_are_no_reply_to_the_user() -> None:
    looked = ToolCall(call_id="", name="search_rooms", arguments=' {"town": "Brill"}')
    asked = Turn(role="user", text="Cancel the room in Brill.")
    search = Turn(role="assistant", calls=(looked,))
    turns = (asked, search, LISTED, calling("cancel_room", {}))
    errors = await marks("constraints", *turns, system="Tell guests before you cancel.")
    assert errors == [("wrong order", "cancel_room")]


async def test_the_second_of_two_steps_comes_first_where_the_first_is_ruled_out() -> None:
    asked = Turn(role="user", text="Cancel the room and hold another.")
    system = "Never cancel a room before the hold has succeeded."
    assert not await marks("calls", asked, calling("hold_room", {}), system=system)
    errors = await marks("calls", asked, calling("cancel_room", {}), system=system)
    assert errors == [("wrong order", "cancel_room")]


def test_a_long_list_of_numbers_takes_no_longer_than_it_is() -> None:
    """A text of a tool's must not keep the judge busy for ever; the former patterns took hours."""
    years = ", ".join(["1891"] * 60)
    assert list(_in_words(f"{years}. From 4, 5 and 6 May.")) == [(None, 5, [4, 5, 6])]
    assert list(_listed(f"{years}!")) == []
    assert list(_listed("a, b and c")) == [3]


SEND = ToolSpec(name="send_invoice", description="Send an invoice.", parameters={"type": "object"})


@pytest.mark.parametrize(
    ("to", "nearest"),
    [
        ("ann@kell.de", None),
        ("Ann@Kell.de", None),
        ("lena.brandt@kell.de", None),  # made of a name and a domain that are given
        ("ann@kel.de", "ann@kell.de"),
        ("bob@evil.example", "ann@kell.de"),
    ],
)
async def test_an_address_must_have_been_given(to: str, nearest: str | None) -> None:
    asked = Turn(role="user", text="Send Lena Brandt's invoice to ann@kell.de.")
    turns = (SYSTEM, asked, calling("send_invoice", {"to": to}))
    segment = segment_of(Trajectory(turns=turns, tools=(SEND,)))
    report = await CallsJudge().assess(segment, Catalogue.load().aspect("agent", "calls"))
    marked = [(span.text, [evidence.text for evidence in span.evidence]) for span in report.spans]
    assert marked == ([(to, [nearest])] if nearest else [])


def test_from_very_many_percentages_any_sum_follows() -> None:
    few, many = (" ".join(f"{rate}.5 %" for rate in range(count)) for count in (3, 249))
    money = " on 12 euros, 13 euros and 14 euros"
    assert not amounts((few + money,)).lead_to(777.77)
    assert amounts((many + money,)).lead_to(777.77)


def test_a_flag_is_no_sum_of_money() -> None:
    rows = json.dumps([{"paid": True, "price": 31.5}, {"paid": True, "price": 47.25}])
    assert set(amounts((rows,)).money) == {31.5, 47.25, 78.75}


def test_a_field_holds_minutes_only_if_a_word_of_its_name_says_so() -> None:
    assert [*lengths('{"admin": 5, "duration_minutes": 45, "hours": 2}')] == [45, 120]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1" + 400 * "0", "1e-320"])
async def test_a_number_that_no_sum_can_have_is_passed_over(number: str) -> None:
    listed = ROOMS.replace("160", number)
    call = ToolCall(
        call_id="", name="book_room", arguments=f'{{"room": "r-17", "price": {number}}}'
    )
    made = Turn(role="assistant", calls=(call,))
    reply = Turn(role="assistant", text=f"It costs {number} euros, and 7341 for all.")
    report = await report_on(SEARCHED, Turn(role="tool", text=listed), made, LISTED, reply)
    assert "r-17" not in {span.text for span in report.spans}
    report = await report_on(SEARCHED, Turn(role="tool", text=listed), reply, aspect="groundedness")
    assert "7341" in {span.text for span in report.spans}


async def test_a_date_that_stands_for_no_end_is_not_today() -> None:
    reply = Turn(role="tool", text="Expiry date: 9999-12-31. Free next month, in 2 weeks.")
    errors = await marks(
        "calls", reply, calling("book_room", {"room": "r-17", "day": "2031-03-03"})
    )
    assert ("value from nowhere", "2031-03-03") not in errors


async def test_an_entry_without_an_id_is_not_the_one_that_was_meant() -> None:
    rows = json.dumps([{"room": "r-17", "hotel": "Gull"}, {"room": None, "hotel": "Anchor"}])
    asked = Turn(role="user", text="Rather the Anchor.")
    turns = (SEARCHED, Turn(role="tool", text=rows), asked, calling("book_room", {"room": "r-17"}))
    assert not (await report_on(*turns)).spans


async def test_each_missing_argument_is_an_error() -> None:
    report = await report_on(calling("search_rooms", {"nights": 2}))
    assert [span.explanation for span in report.spans] == [
        "The required argument 'town' is missing.",
        "The required argument 'day' is missing.",
    ]


async def test_a_default_needs_no_origin_whatever_the_name_of_its_argument() -> None:
    schema = {"properties": {'größe "x"': {"type": "string", "default": "XK-10977"}}}
    tool = ToolSpec(name="book_hall", description="Book a hall.", parameters=schema)
    turns = (SYSTEM, ASKED, calling("book_hall", {'größe "x"': "XK-10977"}))
    segment = segment_of(Trajectory(turns=turns, tools=(tool,)))
    report = await CallsJudge().assess(segment, Catalogue.load().aspect("agent", "calls"))
    assert not report.spans
