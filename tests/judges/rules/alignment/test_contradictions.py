"""Contradictions by alignment: each category beside sentences that only look like one."""

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.rules.alignment.contradiction import Contradiction
from spanjury.judges.rules.alignment.contradictions import contradictions
from spanjury.judges.rules.alignment.directions import turned_directions

FAITHFUL = (
    ("The sale does not end before 15 October.", "The sale ends on 20 October."),
    ("Visitors can take photos in the hall.", "Visitors may not take photos in the hall."),
    ("Chelsea was beaten by Arsenal on Sunday.", "Arsenal beat Chelsea on Sunday."),
    ("After the vote, the mayor resigned.", "The mayor resigned after the vote."),
    ("The mayor did not attend the meeting.", "The mayor was absent from the meeting."),
    (
        "It is not unlikely that the bridge will reopen in May.",
        "It is likely that the bridge will reopen in May.",
    ),
    ("The firm refused to pay the fine.", "The firm did not pay the fine."),
    (
        "The company no longer sells tea in France.",
        "The company does not sell tea in France any more.",
    ),
    ("Ann and Bob opened the shop in 2010.", "Bob and Ann opened the shop in 2010."),
    ("The team scored 3 goals and made 2 saves.", "The team made 2 saves and scored 3 goals."),
    ("About 500 people joined the march in Leeds.", "497 people joined the march in Leeds."),
    ("The tower is 1.5 km from the station.", "The tower is 1500 metres from the station."),
    ("The price fell by 8,4 percent in March.", "The price fell by 8.4% in March."),
    ("Twelve people were hurt in the crash.", "12 people were hurt in the crash."),
    ("“I can't come,” said Ann.", '"I cannot come", Ann said.'),
    ("Ann said she can not come to the party.", "Ann: I ca n't come to the party"),
    ("He denied that he stole the car.", "He said he did not steal the car."),
    (
        "The court rejected the appeal of the driver.",
        "The court did not accept the appeal of the driver.",
    ),
    ("Sales did not rise in the north.", "Sales fell in the north."),
    ("Ann sold the house to Bob.", "Bob bought the house from Ann."),
    (
        "Neither the driver nor the passenger was hurt.",
        "The driver and the passenger were not hurt.",
    ),
    ("Not only did he win the race, he broke the record.", "He won the race and broke the record."),
    ("He left before she arrived at the hall.", "She arrived at the hall after he left."),
    (
        "A reset deletes the list but not the files.",
        "A reset deletes the list and keeps the files.",
    ),
    ("She arrived before him.", "He arrived after her."),
    ("The shop is open on Monday and Tuesday.", "The shop is open from Monday to Wednesday."),
    ("Rain is expected in the south on Friday.", "On Friday, rain is expected in the south."),
    ("The lake is below the old mill.", "The old mill is above the lake."),
    (
        "The council voted to close the library in May 2019.",
        "In May 2019 the council voted to close the library.",
    ),
    ("He does not think the plan will work.", "He thinks the plan will not work."),
    ("The minister might resign on Friday.", "The minister will resign on Friday."),
    ("No more than 20 guests may enter the hall.", "At most 20 guests may enter the hall."),
    ("The bank will not open until Tuesday.", "The bank will open on Tuesday."),
    ("Ann married Bob in Rome.", "Bob married Ann in Rome."),
    (
        "More than 300 houses lost power during the storm.",
        "312 houses lost power during the storm.",
    ),
    (
        "It was a fire after the shock of 1957, and not the shock itself, that destroyed it.",
        "A fire broke out after the shock of 1957. The shock itself did little harm.",
    ),
    (
        "Above all, the hall was full, and the mayor spoke.",
        "The mayor spoke for an hour. All seats of the hall were taken.",
    ),
    (
        "The bridge over the Alder is closed to lorries.",
        "The bridge over the Alder opened in 1932. It has three lanes and is closed to lorries.",
    ),
    ("Neither order has been shipped.", "order,customer,qty,shipped\n1041,Barker,3,"),
    ("The film, directed by Ann Lee, won an award.", "The film won an award."),
    ("Almost half of the staff work at night.", "48 percent of the staff work at night."),
    ("The exam is easy.", "The exam is not difficult."),
    (
        "In 2020 profits were 6 million euros.",
        "Profits were 5 million euros in 2019 and 6 million euros in 2020.",
    ),
    ("Revenue rose to 12 million from 10 million.", "Revenue rose from 10 million to 12 million."),
    ("The queen opened the bridge with the king.", "The king opened the bridge with the queen."),
    ("He lacks a licence to sell food.", "He does not have a licence to sell food."),
    ("Few people like the new design.", "Not many people like the new design."),
    ("He was unable to attend the trial.", "He could not attend the trial."),
    (
        "The patient's condition is stable; she needs no surgery.",
        "The patient is stable and does not need surgery.",
    ),
    ("He never left the village.", "He did not leave the village."),
    (
        "Dogs are forbidden in the room with the blue door.",
        "Dogs are allowed except in the room with the blue door.",
    ),
    ("The trip took 90 minutes by bus.", "The bus trip took 90 min; it costs 3 euros."),
    ("The warranty lasts 2 years.", "The warranty lasts 24 months."),
    ("The warranty lasts 24 months.", "The warranty lasts 2 years. Help is there 24 hours a day."),
    ("The trip takes 2 hours 30 minutes.", "The trip takes 150 minutes."),
    ("The price is 1.200,00 EUR.", "The price is 1,200.00 EUR."),
    ("Six cans of it a day are too many.", "Drink no more than four cans of it a day."),
    ("The rope was not cut with a knife.", "The rope was torn; the net was cut with a knife."),
    ("The mill opened in 1935.", "The mill by the lake opened in 1932 and its shop in 1935."),
    ("The firm moved to Germany in May.", "After the fire the firm moved to Munich in May."),
    ("The firm moved to Muenchen in May.", "After the fire the firm moved to Munchen in May."),
    ("The boat has a golden hull.", "The boat of the harbour master has a yellow hull."),
    ("The boat has a red hull.", "The boat of the master has a blue hull and a red sail."),
    ("The boat has a rusty hull.", "The boat of the harbour master has a blue hull."),
    ("The hall does not have 60 seats; it has 40.", "The hall has 40 seats."),
    ("The south gate is closed in winter.", "The north gate is open in winter."),
    ("The last bus leaves at 10 pm.", "The first bus leaves at 6 am, the last bus at 10 pm."),
    ("Women pay 10 euros for a ticket.", "Men pay 12 euros for a ticket. Women pay 10 euros."),
    (
        "The old bridge is narrower than the new bridge.",
        "The new bridge is wider than the old bridge.",
    ),
    (
        "The library on Harbour Street stays open.",
        "It was proposed to close the library on Harbour Street. The council will keep it open.",
    ),
)

CONTRADICTORY = (
    (
        "Lodgers are unable to move the piano.",
        "With a trolley, and when the hall is empty, lodgers can move the piano.",
        "negation",
    ),
    (
        "The lamp itself can be repaired.",
        "The cord and the plug may be replaced at home, but the lamp cannot be repaired.",
        "negation",
    ),
    (
        "The gap amounted to 24 per cent.",
        "On average, the gap between the two groups was 24 minutes.",
        "unit",
    ),
    (
        "A hall that rents chairs has to close.",
        "In the other districts, halls may stay open where they rent chairs.",
        "antonym",
    ),
    ("The library will close in May.", "The library will not close in May.", "negation"),
    (
        "The board never approved the plan for the bridge.",
        "The board approved the plan for the bridge.",
        "negation",
    ),
    (
        "He managed to finish the race in London.",
        "He was unable to finish the race in London.",
        "negation",
    ),
    (
        "The company still sells tea in France.",
        "The company no longer sells tea in France.",
        "negation",
    ),
    ("The company sells tea in France.", "The company no longer sells tea in France.", "negation"),
    (
        "The jury found the driver guilty of theft.",
        "The jury found the driver innocent of theft.",
        "antonym",
    ),
    ("Profits fell by 5 percent in March.", "Profits rose by 5 percent in March.", "antonym"),
    ("Sales are expected to fall by 4%.", "Sales are expected to rise by 4%.", "antonym"),
    (
        "Once considered a star, he played briefly but sometimes reached the final.",
        "Once considered a star, he played briefly but never reached the final.",
        "negation",
    ),
    (
        "The army does not comprise more than 80% of the country's active defense personnel.",
        "It is large and comprises more than 80% of the country's active defence personnel.",
        "negation",
    ),
    ("The meeting is on Tuesday at noon.", "The meeting is on Wednesday at noon.", "date"),
    (
        "The ceasefire began on 4 May in the south.",
        "The ceasefire began on 5 May in the south.",
        "date",
    ),
    ("Spain beat France in the final.", "France beat Spain in the final.", "name order"),
    ("Spain was beaten by France in the final.", "Spain beat France in the final.", "name order"),
    (
        "“We are ready for the season,” said Tom Hill.",
        "“We are ready for the season,” said Ray Moss.",
        "speaker",
    ),
    (
        "Tom Hill said: “We are ready for the season.”",
        "“We are ready for the season,” said Ray Moss.",
        "speaker",
    ),
    (
        "It cost 5 million euros to build the pool.",
        "It cost 5 billion euros to build the pool.",
        "other number",
    ),
    ("The route is 12 miles long.", "The route is 12 km long.", "unit"),
    ("The error was fixed in 4.3.2.", "Mina: The error was fixed in 4.3.1.", "number"),
    ("Helmets are not free.", "Helmets are free. Cancellations on Sundays are free.", "negation"),
    ("The lease ends on 31.08.2025.", "The lease ends on 31.08.2026.", "date"),
    (
        "The team scored 2 goals and made 3 saves.",
        "The team scored 3 goals and made 2 saves.",
        "number",
    ),
    (
        "the storm did n't reach the coast of spain .",
        "the storm reached the coast of spain .",
        "negation",
    ),
    ("It is possible to repair the engine.", "It is impossible to repair the engine.", "negation"),
    ("He left the party before the speech.", "He left the party after the speech.", "antonym"),
    (
        "More people voted in the north than last year.",
        "Fewer people voted in the north than last year.",
        "antonym",
    ),
    (
        "The cat chased the dog around the yard.",
        "The dog chased the cat around the yard.",
        "name order",
    ),
    (
        "Bob: I will bring the cake for the party",
        "Ann: I will bring the cake for the party\nBob: ok, great",
        "speaker",
    ),
    ("The museum opens at 9 on weekdays.", "The museum opens at 10 on weekdays.", "other number"),
    ("The second half was sold out.", "The first half was sold out.", "other number"),
    (
        "The male nurse received an award from the mayor.",
        "The female nurse received an award from the mayor.",
        "antonym",
    ),
    (
        "Doctors say the drug isn’t safe for children.",
        "Doctors say the drug is safe for children.",
        "negation",
    ),
    (
        "The vaccine increased admissions to hospital by 40 percent.",
        "The vaccine reduced admissions to hospital by 40 percent.",
        "antonym",
    ),
    ("No students passed the exam in June.", "All students passed the exam in June.", "negation"),
    (
        "Take the tablets with milk or antacids.",
        "Swallow them whole. Do not take the tablets with milk or antacids.",
        "negation",
    ),
    (
        "You can feed the ducks bread.",
        "You must not feed the ducks bread.",
        "negation",
    ),
    (
        "The council did not adopt the plan.",
        "After six hours of talks on Monday the council adopted the plan of the mayor by one vote.",
        "negation",
    ),
    (
        "The museum was crowded, and the mayor did not open the new wing.",
        "On Sunday the mayor opened the new wing in the rain.",
        "negation",
    ),
    (
        "Beyond all question, a meal of nine courses costs 58 euros, and the tables are taken.",
        "A meal of five courses costs 58 euros, and on Mondays guests pay what they can.",
        "number",
    ),
    ("The mill opened in 1935.", "The mill by the lake opened in 1932. It has a shop.", "date"),
    (
        "The firm moved to Cologne in May.",
        "After the fire the firm moved to Munich in May.",
        "other name",
    ),
    (
        "The boat has a red hull.",
        "The boat of the harbour master has a blue hull.",
        "other kind",
    ),
)

ARTICLE = (
    "The council voted on Monday to close the library in Leeds. Ann Hall, the mayor, said the plan "
    "would save 3 million pounds in 12 months. Bob Ray did not support the plan. “We will fight "
    "this in court,” said Bob Ray. The library opened in 1904 and has 40,000 books."
)
SENTENCES = ARTICLE.replace("“We", "\n“We").split("\n")

JSON = """[
 {"name": "Blue Spice", "city": "Leeds", "price": 12, "dogsAllowed": false, "open": true},
 {"name": "Red Rose", "city": "York", "price": 20, "dogsAllowed": true, "open": true}
]"""
TABLE = """| Name | City | Price | Dogs allowed |
|---|---|---|---|
| Blue Spice | Leeds | 12 | no |
| Red Rose | York | 20 | yes |
"""
BLOCKS = """Name: Blue Spice
City: Leeds
Price: 12
Dogs allowed: no

Name: Red Rose
City: York
Price: 20
Dogs allowed: yes
"""
CSV = """name,city,price,dogs allowed
Blue Spice,Leeds,12,no
Red Rose,York,20,yes
"""
TURNS = """Ann: I will bring the cake for the party
Bob: ok, great
Ann: do you need a lift home?
Bob: no, I will walk
"""


def contradictions_of(output: str, source: str) -> list[Contradiction]:
    return contradictions(output, {"Source": source})


@pytest.mark.parametrize(("output", "source"), FAITHFUL)
def test_a_faithful_sentence_is_left_alone(output: str, source: str) -> None:
    assert contradictions_of(output, source) == []


@pytest.mark.parametrize(
    ("output", "source", "text", "quote"),
    [
        ("It opened at 19:30.", "It opened at 18:30.", "19:30", "18:30"),
        (
            "The ratio of debt to equity is 3:1.",
            "The ratio of debt to equity is 3:2.",
            "3:1",
            "3:2",
        ),
        ("The router AX-301 fails.", "The router AX-310 fails.", "AX-301", "AX-310"),
        ("It starts on 2024-04-12.", "It starts on 2024-04-11.", "2024-04-12", "2024-04-11"),
        ("It starts on 4 May 2021.", "It starts on 3 May 2021.", "4 May 2021", "3 May 2021"),
        ("It won 11 votes to 5.", "It won 11 votes to 4.", "5", "4"),
        (
            "You can call 0555 213 404.",
            "You can call 0555 213 400.",
            "0555 213 404",
            "0555 213 400",
        ),
        ("Pupils under 18 may fly.", "Pupils under 16 may fly.", "18", "16"),
    ],
)
def test_a_part_of_a_number_is_marked_with_the_rest(
    output: str, source: str, text: str, quote: str
) -> None:
    (each,) = contradictions_of(output, source)
    assert (each.text, each.explanation) == (text, f"The source says '{quote}'.")


def test_a_date_in_other_digits_is_the_same() -> None:
    assert contradictions_of("The lease ends on 1.9.2024.", "The lease ends on 01.09.2024.") == []


@pytest.mark.parametrize(("output", "source", "category"), CONTRADICTORY)
def test_a_contradiction_has_its_category(output: str, source: str, category: str) -> None:
    assert {each.category for each in contradictions_of(output, source)} == {category}


def test_a_dropped_denial_quotes_the_source_and_gives_its_sentence_as_evidence() -> None:
    source = "It rained. The library will not close in May. Ann left."
    (each,) = contradictions_of("Ann left. The library will close in May.", source)
    assert (each.start, each.text, each.severity) == (22, "will close", 5)
    assert each.explanation == "The source says 'will not close'."
    assert each.evidence.text == "The library will not close in May."
    assert source[each.evidence.start : each.evidence.end] == each.evidence.text


def test_the_evidence_names_the_input_it_stands_in() -> None:
    inputs = {"Letter": "Ann likes tea.", "News": "Profits rose by 5 percent in March."}
    (each,) = contradictions("Profits fell by 5 percent in March.", inputs)
    assert (each.evidence.input, each.evidence.start) == ("News", 0)


def test_a_sentence_that_another_input_says_too_is_left_alone() -> None:
    inputs = {"Monday": "The shop will not open in May.", "Friday": "The shop will open in May."}
    assert contradictions("The shop will open in May.", inputs) == []


def test_a_part_of_a_longer_sentence_is_compared() -> None:
    source = (
        "According to the mayor, the council will not close the library in May, as it had hoped."
    )
    (each,) = contradictions_of("The council will close the library in May.", source)
    assert each.category == "negation"


def test_errors_of_two_clauses_come_in_order() -> None:
    source = (
        "On Sunday the mayor opened the new wing in the rain. The ferry sails at nine on Monday."
    )
    errors = contradictions_of(
        "The mayor did not open the new wing, and the ferry sails at ten.", source
    )
    assert [error.text for error in errors] == ["not open", "ten"]


def test_a_number_in_a_question_is_not_contradicted() -> None:
    talk = "Ann: Shall we meet at the inn at seven?\nBen: Seven is too early. We meet at eight."
    assert contradictions_of("Ann and Ben meet at the inn at eight.", talk) == []
    stated = "Ann and Ben meet at the inn at seven. Tom comes at eight."
    assert len(contradictions_of("Ann and Ben meet at the inn at eight.", stated)) == 1


def test_an_opposite_and_a_number_after_the_same_subject_are_both_marked() -> None:
    source = "Ada Berg has served as the junior Senator from Texas since 2013."
    marked = contradictions_of(source.replace("junior", "senior").replace("2013", "2014"), source)
    assert [contradiction.text for contradiction in marked] == ["senior", "2014"]


@pytest.mark.parametrize("source", [JSON, TABLE, BLOCKS, CSV])
@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("Blue Spice is in York.", "York"),
        ("The price at Blue Spice is 20 pounds.", "20"),
        ("Dogs are allowed at Blue Spice.", "Dogs are allowed"),
        ("Dogs are not allowed at Red Rose.", "Dogs are not allowed"),
    ],
)
def test_a_value_of_the_next_record_is_found(source: str, output: str, words: str) -> None:
    (each,) = contradictions_of(output, source)
    assert (each.category, each.text) == ("record", words)
    assert source[each.evidence.start : each.evidence.end] == each.evidence.text


@pytest.mark.parametrize("source", [JSON, TABLE, BLOCKS, CSV])
@pytest.mark.parametrize(
    "output",
    [
        "Blue Spice is in Leeds.",
        "Red Rose is in York and the price is 20.",
        "Blue Spice is in Leeds, and Red Rose is in York.",
        "Dogs are not allowed at Blue Spice.",
        "Dogs are allowed at Red Rose.",
        "Blue Spice is cheaper than the place in York.",
        "Dogs must wait outside at Blue Spice.",
        "Is Blue Spice in York?",
    ],
)
def test_a_record_that_is_described_well_is_left_alone(source: str, output: str) -> None:
    assert contradictions_of(output, source) == []


PRICES = (
    "| Model | Price | Weight |\n|---|---|---|\n| RX-200 | 89.90 | 2 kg |\n| RX-300 | 129 | 3 kg |"
)
OBJECTS = (
    '[{"model": "RX-200", "price": 89.90, "weight": "2 kg"}, '
    '{"model": "RX-300", "price": 129.00, "weight": "3 kg"}]'
)
HEAD = "| Model | Price |\n|---|---|\n"


@pytest.mark.parametrize("source", [PRICES, OBJECTS])
@pytest.mark.parametrize(
    ("output", "words"),
    [
        (f"{HEAD}| RX-200 | 129.00 |\n| RX-300 | 89.90 |", ["129.00", "89.90"]),
        ("| Product | Costs |\n|---|---|\n| RX-200 | 129 |", ["129"]),
        ("| Weight | Model |\n|---|---|\n| 3 kg | RX-200 |\n| 3 kg | RX-300 |", ["3 kg"]),
        ("| RX-300 | 89.90 | 3 kg |", ["89.90"]),
        ("The RX-300 costs 89.90.", ["89.90"]),
        ("The RX-200 weighs 3 kg.", ["3"]),
    ],
)
def test_a_cell_or_a_number_of_another_row_is_found(
    source: str, output: str, words: list[str]
) -> None:
    errors = contradictions_of(output, source)
    assert [(each.category, each.text) for each in errors] == [("record", word) for word in words]


@pytest.mark.parametrize("source", [PRICES, OBJECTS])
@pytest.mark.parametrize(
    "output",
    [
        f"{HEAD}| RX-300 | 129.00 |\n| RX-200 | 89.9 |",
        "| Weight | Model |\n|---|---|\n| 2 kg | RX-200 |\n| 3 kg | RX-300 |",
        "| RX-200 | 89.90 | 2 kg |\n| RX-300 | 129 | 3 kg |",
        "The RX-200 is cheaper than the RX-300, which costs 129.",
        "The RX-200 has 129 parts.",
        "| Model | Parts |\n|---|---|\n| RX-200 | 129 |",
    ],
)
def test_a_table_with_the_values_of_the_source_is_left_alone(source: str, output: str) -> None:
    assert contradictions_of(output, source) == []


LINES = "RX-200: 89.90 EUR\nRX-300: 129.00 EUR\nWM-1: 14.50 EUR"
LISTS = [LINES, f"Price list 2026. {LINES.replace(chr(10), '. ')}. Shipping is free from 50 EUR."]


@pytest.mark.parametrize("source", LISTS)
def test_an_amount_of_another_entry_of_a_list_is_found(source: str) -> None:
    (each,) = contradictions_of("The RX-300 costs 89.90 EUR.", source)
    assert (each.category, each.text) == ("record", "89.90")
    assert each.explanation == "The source says 'RX-300: 129.00 EUR'."
    assert contradictions_of("The RX-300 costs 129.00 EUR.", source) == []


def test_a_script_with_amounts_is_no_list() -> None:
    script = "Ann: 5 pounds. Bob: 6 pounds. Ann: That is too much."
    assert contradictions_of("Bob knows that it is 5 pounds.", script) == []


@pytest.mark.parametrize(
    ("output", "words"),
    [("The warranty lasts two years.", "two years"), ("The warranty lasts 4 years.", "4 years")],
)
def test_an_amount_in_another_unit_is_compared(output: str, words: str) -> None:
    source = "It has 2 ports and 4 lamps. The warranty lasts 12 months."
    (each,) = contradictions_of(output, source)
    assert (each.category, each.text) == ("unit", words)
    assert each.explanation == "The source says '12 months'."


def test_the_quantity_with_most_of_the_words_around_it_is_quoted() -> None:
    source = "The bottle of iron holds 120 ml. The daily dose of iron for adults is 120 mg."
    (each,) = contradictions_of("Adults take a dose of iron of 120 g daily.", source)
    assert each.explanation == "The source says '120 mg'."


def test_the_metres_of_a_length_belong_to_its_number() -> None:
    (each,) = contradictions_of("The cable is 2 m long.", "The cable is 20 cm long.")
    assert (each.category, each.text) == ("unit", "2 m")


WRITTEN = "The report was written by Lena Hoff and published in March."


def test_another_full_name_is_found_in_a_copy() -> None:
    (each,) = contradictions_of(
        "The report was written by Omar Diaz and published in March.", WRITTEN
    )
    assert (each.category, each.text) == ("other name", "Omar Diaz")
    assert each.explanation == "The source says 'Lena Hoff'."


@pytest.mark.parametrize(
    ("output", "source"),
    [
        (WRITTEN, WRITTEN),
        ("The report was written by Omar Diaz and published in March.", f"{WRITTEN} Diaz edited."),
        ("The report was written by Lena Diaz and published in March.", WRITTEN),
        ("The report was written with Omar Diaz and published in March.", WRITTEN),
        ("The report was written by Omar Diaz in March.", WRITTEN),
    ],
)
def test_a_full_name_that_may_be_right_is_left_alone(output: str, source: str) -> None:
    assert contradictions_of(output, source) == []


NESTED = json.dumps(
    [
        {
            "name": "Blue Spice",
            "costs": {"price": 20, "tip": None},
            "rules": {"dogs_allowed": True},
        },
        {"name": "Red Rose", "costs": {"price": 35, "tip": None}, "rules": {"dogs_allowed": False}},
    ]
)
CAFE = json.dumps(
    {
        "name": "Blue Door",
        "attributes": {"outdoor_seating": False, "parking": {"garage": False, "street": True}},
        "upstairs": {"smoking": False},
        "downstairs": {"smoking": True},
    }
)


@pytest.mark.parametrize(
    ("source", "output", "words"),
    [
        (NESTED, "The price at Red Rose is 20.", "20"),
        (NESTED, "Dogs are allowed at Red Rose.", "Dogs are allowed"),
        (NESTED, "Dogs are not allowed at Blue Spice.", "Dogs are not allowed"),
        (CAFE, "Blue Door has outdoor seating.", "outdoor seating"),
        (CAFE, "The cafe has no street parking.", "no street"),
    ],
)
def test_a_value_in_an_object_belongs_to_the_object_around_it_too(
    source: str, output: str, words: str
) -> None:
    (each,) = contradictions_of(output, source)
    assert (each.category, each.text) == ("record", words)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (NESTED, "The price at Red Rose is 35."),
        (NESTED, "Dogs are allowed at Blue Spice."),
        (CAFE, "Blue Door has no outdoor seating."),
        (CAFE, "There is street parking."),
        (CAFE, "Smoking is allowed at Blue Door."),  # the key occurs twice
        (json.dumps({"hotel": {"name": "Inn"}, "spa": {"wifi": False}}), "The hotel has wifi."),
        (json.dumps({"hotel": {"name": "Inn"}, "spa": {"wifi": False}}), "The lobby has wifi."),
    ],
)
def test_a_value_in_an_object_of_something_else_is_left_alone(source: str, output: str) -> None:
    assert contradictions_of(output, source) == []


def test_an_opposite_of_what_is_true_of_a_record_is_found() -> None:
    (each,) = contradictions_of("Blue Spice is closed.", JSON)
    assert (each.text, each.explanation) == ("closed", "The source says '\"open\": true'.")


def test_a_denial_of_something_else_says_nothing_of_a_record() -> None:
    source = "name[Loch Fyne], familyFriendly[yes], area[city centre]"
    assert contradictions_of("I did not find a place that is family friendly.", source) == []


def test_words_of_another_speaker_are_found_in_a_script() -> None:
    (each,) = contradictions_of("Bob: I will bring the cake for the party", TURNS)
    assert (each.category, each.text) == ("speaker", "Bob")


def test_a_heading_is_no_speaker() -> None:
    assert (
        contradictions_of("Ann says the shop opened in May.", "Update: the shop opened in May.")
        == []
    )


def test_a_number_that_another_input_states_contradicts_none() -> None:
    inputs = {
        "First": "The old mill by the lake opened in 1932.",
        "Second": "Mill shop: since 1935.",
    }
    assert contradictions("The mill opened in 1935.", inputs) == []
    assert contradictions("The mill opened in 1935.", {"First": inputs["First"]})


def test_two_names_of_one_person_do_not_contradict() -> None:
    source = "Then Carter signed the treaty with the allies. Jimmy Carter was calm."
    assert contradictions_of("Then Jimmy signed the treaty with the allies.", source) == []


def test_a_number_that_was_torn_by_its_tokens_is_left_alone() -> None:
    source = "around 56, 000 dogs were treated by vets in may for $ 1. 7 million ."
    assert (
        contradictions_of(
            "Around 56,000 dogs were treated by vets in May for $1.7 million.", source
        )
        == []
    )


def test_typographic_and_tokenised_contractions_are_read_alike() -> None:
    source = "the firm did n't pay the fine in full ."
    assert contradictions_of("The firm didn’t pay the fine in full.", source) == []


@given(st.sampled_from(SENTENCES), st.booleans())
def test_a_copy_of_the_source_is_left_alone(sentence: str, lower: bool) -> None:
    assert contradictions_of(sentence.lower() if lower else sentence, ARTICLE) == []


@given(st.lists(st.sampled_from([*ARTICLE.split(), "not", "no", "7", "Tuesday", ",", ":"])))
def test_offsets_and_evidence_hold_whatever_is_written(words: list[str]) -> None:
    output = " ".join(words)
    for each in contradictions_of(output, ARTICLE):
        assert output[each.start : each.end] == each.text
        assert ARTICLE[each.evidence.start : each.evidence.end] == each.evidence.text


@given(st.text(), st.text())
def test_any_text_can_be_read(output: str, source: str) -> None:
    for each in contradictions_of(output, source):
        assert output[each.start : each.end] == each.text


@pytest.mark.heavy
def test_a_megabyte_ends() -> None:
    source = "".join(f"The train to place {at} will not stop at noon. " for at in range(23_000))
    started = process_time()
    contradictions_of(source.replace("will not", "will")[:100_000], source)
    assert process_time() - started < 60


RESULTS = "Revenue rose 4 percent to 3.2 billion euros, while profit fell by a tenth in March."


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (RESULTS, "Profit rose 4% to 3.2 billion euros."),
        (RESULTS, "In March revenue fell."),
        ("Operating profit had declined by 3%.", "The firm says that operating profit grew."),
    ],
)
def test_a_verb_of_another_clause_turns_what_a_noun_did(source: str, output: str) -> None:
    (turned,) = contradictions(output, {"Report": source})
    assert (turned.category, turned.severity) == ("antonym", 5)
    assert turned.text in {"rose", "fell", "grew"}
    assert turned.evidence.text in source


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (RESULTS, "Profit fell 10%, and revenue rose."),
        (RESULTS, "In April profit rose."),  # of another month nothing is known
        (RESULTS, "Did profit rise?"),
        (RESULTS, "Profit did not rise."),
        (RESULTS, "Operating profit rose."),
        ("Sales fell in Asia and Europe, but grew in Africa.", "Sales grew in Africa."),
        ("Profit fell in May. Later, the growth of profit was strong.", "Profit rose."),
        ("The firm raised prices. Demand fell.", "The firm cut prices."),
        ("They looked on the way down.", "They looked on the way up."),
    ],
)
def test_a_noun_that_may_have_moved_as_said_is_left_alone(source: str, output: str) -> None:
    assert not [*turned_directions(output, {"Report": source})]


@pytest.mark.parametrize(
    ("output", "source", "marked"),
    [
        ("The train leaves at 9:20.", "The train to Leeds leaves at 9:15.", ["9:20"]),
        ("The train leaves at 9:20 am.", "The train leaves at 9:15 a.m. daily.", ["9:20 am"]),
        ("The ferry sails at 14:35.", "The ferry sails at 2:30 pm.", ["14:35"]),
        (
            "The first bus leaves at 6:40 and the last at 23:10.",
            "The first bus leaves at 6:40 and the last at 23:50.",
            ["23:10"],
        ),
    ],
)
def test_another_time_in_a_near_copy_is_marked_whole(
    output: str, source: str, marked: list[str]
) -> None:
    wrong_times = contradictions(output, {"Timetable": source})
    assert [each.text for each in wrong_times] == marked
    assert all(output[each.start : each.end] == each.text for each in wrong_times)
    for each in wrong_times:
        assert source[each.evidence.start : each.evidence.end] == each.evidence.text


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The ferry sails at 2:30.", "The ferry sails at 14:30."),
        ("The ferry sails at 16:00.", "The ferry sails at 14:30. The next sails at 4:00 pm."),
        ("The doors open at about 9:20.", "The doors open at 9:15."),
        ("The doors open by 9:20.", "The doors open at 9:15."),
        ("Do the doors open at 9:20?", "The doors open at 9:15."),
        ("The train arrives at 9:45.", "The train leaves at 9:15 and takes 30 minutes."),
        ("Prices rose by 9.20 percent.", "Prices rose by 9.15 percent."),
        ("The museum opens at 9:20.", "The library opens at 9:15."),
    ],
)
def test_a_time_that_may_be_right_is_not_marked(output: str, source: str) -> None:
    wrong_times = contradictions(output, {"Timetable": source})
    assert not [each for each in wrong_times if each.category == "time"]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The monthly rent is 4,000.", "The annual rent is 48,000, payable each month."),
        (
            "60 of the spaces will be replaced.",
            "The car park has 180 spaces; 60 of them will be replaced by spaces at the station.",
        ),
        (
            "The Kestrel 500 runs for 12 minutes in turbo mode.",
            "The Kestrel 700 is heavy and runs for 18 minutes in turbo mode.",
        ),
        ("A single room costs 65 euros more than a shared one.", "A shared room costs 64 euros."),
        ("3 voted against the pump.", "11 members voted for and 3 against the pump."),
    ],
)
def test_numbers_of_other_periods_parts_models_and_differences_are_no_contradiction(
    output: str, source: str
) -> None:
    assert contradictions(output, {"Source": source}) == []


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The annual rent is 45,000.", "The annual rent is 48,000, payable in advance."),
        (
            "The Kestrel 500 runs for 12 minutes in turbo mode.",
            "The Kestrel 500 is heavy and runs for 18 minutes in turbo mode.",
        ),
    ],
)
def test_another_number_of_the_same_period_or_model_is_a_contradiction(
    output: str, source: str
) -> None:
    assert [each.category for each in contradictions(output, {"Source": source})] == ["number"]


def test_a_denial_about_another_number_is_no_contradiction() -> None:
    source = {"Source": "About 18,000 runners started, and 17,200 finished."}
    marked = contradictions("About 18,000 runners started; 800 of them did not finish.", source)
    assert "negation" not in [each.category for each in marked]


def test_a_contradiction_does_not_begin_with_a_blank() -> None:
    [each] = contradictions("In winter, it is open.", {"News": "In winter, the gate is not open."})
    assert each.text == "it is open"


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("The lease began on 1 March 2020 and ran for three years.", "The lease ended in 2023."),
        ("The shop opens at 9 on Mondays.", "The shop closes at 5 on Mondays."),
        ("The old mill was built in 1850.", "The old mill was demolished in 1901."),
        ("The two teams leave the cup in 2023.", "The two teams enter the cup in 2020."),
    ],
)
def test_the_beginning_does_not_contradict_an_end_with_another_date(
    source: str, output: str
) -> None:
    assert contradictions(output, {"Report": source}) == []


def test_the_beginning_contradicts_an_end_on_the_same_date() -> None:
    source = {"Report": "The lease began on 1 March 2020."}
    [problem] = contradictions("The lease ended on 1 March 2020.", source)
    assert problem.category == "antonym"


def test_a_contradiction_quotes_the_whole_name() -> None:
    source = {"Report": "The drought struck East Africa in 2011 and killed many cattle."}
    [problem] = contradictions("The drought struck West Africa in 2011.", source)
    assert problem.text == "West Africa"
    assert problem.explanation == "The source says 'East Africa'."


def test_a_value_of_the_sentence_that_continues_the_compared_one_is_left_alone() -> None:
    source = {"Price list": "The price was 20 euros. Now it is 25 euros."}
    assert contradictions("The price is 25 euros.", source) == []
    for output in ("The price was 25 euros.", "The price is 30 euros."):
        [contradiction] = contradictions(output, source)
        assert contradiction.text == output.split()[3]


@pytest.mark.parametrize(
    ("output", "source", "words"),
    [
        ("They voted against the plan.", "They voted for the plan.", "voted against the plan"),
        ("He spoke for the workers.", "He spoke against the workers.", "spoke for the workers"),
        ("We recommend alcohol.", "We advise against alcohol.", "recommend alcohol"),
        ("We advise against yoghurt.", "We recommend yoghurt.", "advise against yoghurt"),
    ],
)
def test_the_other_side_is_marked(output: str, source: str, words: str) -> None:
    (contradiction,) = contradictions_of(output, source)
    assert (contradiction.text, contradiction.category) == (words, "antonym")


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("We do not recommend alcohol.", "We advise against alcohol."),
        ("Ben voted against the ban.", "Ann voted for the ban, but Ben against it."),
        ("He argued against the plan.", "He argued for an hour against the plan."),
        ("The vaccine works for flu.", "The vaccine works against flu."),
        ("The doctor recommends rest.", "The doctor advises rest."),
        ("We recommend beer.", "We recommend beer and advise against alcohol."),
    ],
)
def test_a_side_that_may_be_the_same_is_left_alone(output: str, source: str) -> None:
    assert contradictions_of(output, source) == []
