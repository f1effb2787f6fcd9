"""Answers beside their question, which is no evidence for them."""

import pytest

import spanjury
from spanjury.judges.core import Decision
from spanjury.judges.rules.alignment.questions import opening_doubts, polar_doubts, question_doubts
from spanjury.judges.rules.alignment.tokens import labels

MANUAL = "To reset the device, hold the button for 10 seconds. The warranty is 24 months."
PRICES = "RX-200: 89.90 EUR. RX-300: 129.00 EUR. WM-1: 14.50 EUR."
PASSAGES = (
    "Product: RX-200. The warranty is 24 months.",
    "Product: RX-300. The warranty is 36 months.",
)
MILL = "The mill closed in 1987. In 2025 the museum opened in the old building."

SCOOTER = (
    "The top speed is 20 km/h in town mode and 25 km/h in sport mode. The scooter weighs 13 kg and "
    "carries up to 110 kg. The charger has a warranty of six months."
)

HALL = "The hall has 300 seats, is 240 metres long and opened in 1988."


def judged(answer: str, *, question: str, context: str | tuple[str, ...]) -> spanjury.PanelReport:
    return spanjury.check(
        answer,
        source={
            "Question": question,
            "Context": context if isinstance(context, str) else [*context],
        },
        task="question-answering",
        aspects="faithfulness",
    )["faithfulness"]


@pytest.mark.parametrize(
    ("answer", "question", "context", "decision"),
    [
        ("The warranty is 36 months.", "Is the warranty 36 months?", MANUAL, "faulty"),
        ("The warranty is 24 months.", "Is the warranty 36 months?", MANUAL, "ok"),
        ("The device is waterproof.", "Is the device waterproof?", MANUAL, "unsure"),
        ("14.50 EUR", "How much is the RX-300?", PRICES, "unsure"),
        ("89.90 EUR", "How much is the RX-300?", PRICES, "unsure"),
        ("129.00 EUR", "How much is the RX-300?", PRICES, "ok"),
        ("10 seconds", "How long is the warranty?", MANUAL, "unsure"),
        ("24 months", "How long is the warranty?", MANUAL, "ok"),
        ("2025", "When did the mill close?", MILL, "unsure"),
        ("1987", "When did the mill close?", MILL, "ok"),
        ("300", "When did the hall open?", HALL, "unsure"),
        ("1988", "How long is the hall?", HALL, "unsure"),
        ("240 metres", "How long is the hall?", HALL, "ok"),
        ("25 km/h.", "How fast is the scooter in town mode?", SCOOTER, "unsure"),
        ("20 km/h.", "How fast is the scooter in town mode?", SCOOTER, "ok"),
        ("110 kg", "How heavy is the scooter?", SCOOTER, "unsure"),
        ("13 kg", "How heavy is the scooter?", SCOOTER, "ok"),
        ("Six months.", "How long is the warranty of the charger?", SCOOTER, "ok"),
        ("No, the hall has 300 seats.", "Does the hall have 300 seats?", HALL, "unsure"),
        ("Yes, the hall has 300 seats.", "Does the hall have 300 seats?", HALL, "ok"),
        (
            "The warranty is 24 months.",
            "How long is the warranty of the RX-300?",
            PASSAGES,
            "unsure",
        ),
        ("The warranty is 36 months.", "How long is the warranty of the RX-300?", PASSAGES, "ok"),
    ],
)
def test_an_answer_is_compared_with_the_context_alone(
    answer: str, question: str, context: str | tuple[str, ...], decision: str
) -> None:
    report = judged(answer, question=question, context=context)
    assert report.decision == Decision(decision)
    assert all(piece.input != "Question" for span in report.spans for piece in span.evidence)


@pytest.mark.parametrize(
    "answer",
    [
        "The manuals do not describe how to set up a VPN.",
        "Unfortunately, the provided documents do not contain information about VPN setup.",
        "I cannot answer that question based on the provided context.",
        "VPN setup is not mentioned in the context.",
    ],
)
def test_an_answer_that_the_source_lacks_something_is_unverified_and_no_error(answer: str) -> None:
    report = judged(answer, question="How do I set up a VPN?", context=MANUAL)
    assert (report.decision, report.spans) == (Decision.UNSURE, ())
    (sentence,) = report.unverified
    assert (sentence.text, sentence.is_binding) == (answer, True)
    assert sentence.reason.startswith("It says that the source lacks something")


@pytest.mark.parametrize(
    "answer",
    [
        "The warranty is 24 months. [1]",
        "The warranty is 24 months (Context [1]).",
        "The warranty is 24 months.【1†source】",
        "Yes. The warranty is 24 months.",
        "1. The warranty is 24 months.\n2. To reset the device, hold the button for 10 seconds.",
    ],
)
def test_citations_list_numbers_and_yes_claim_nothing(answer: str) -> None:
    report = judged(answer, question="How long is the warranty?", context=MANUAL)
    assert (report.decision, report.unverified) == (Decision.OK, ())


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        ("Yes, she still teaches three pupils.", []),
        ("Yes, she has two sons.", ["but the rest of its sentence may answer another question."]),
        (
            "Yes, she does not teach.",
            ["and the rest of its sentence does not agree with that."],
        ),
    ],
)
def test_the_rest_of_a_yes_agrees_contradicts_or_says_something_else(
    answer: str, reasons: list[str]
) -> None:
    doubts = opening_doubts(answer, ["Does Solveig Aas still teach?"])
    assert [doubt.reason.partition(", ")[2] for doubt in doubts] == reasons


BAGS = "Bag A holds the tent. Bag B holds the stove."
PLANETS = "Mars has two moons. Venus has no moon."
TRAMS = "The blue tram has four doors; the red tram has no doors on the left."


@pytest.mark.parametrize(
    ("source", "question", "right", "wrong"),
    [
        (BAGS, "Which bag holds the stove?", "Bag B", "Bag A"),
        (BAGS, "Which bag holds the tent?", "A", "B"),
        (BAGS, "What does bag B hold?", "The stove", "The tent"),
        (
            "Flights to Oslo leave from gate C, flights to Rome from gate D.",
            "From which gate do flights to Rome leave?",
            "Gate D",
            "Gate C",
        ),
        (PLANETS, "Which moons does Mars have?", "Two moons", "No moon"),
        (PLANETS, "How many moons does Venus have?", "No moon", "Two"),
        (TRAMS, "How many doors does the blue tram have?", "Four doors", "No doors"),
    ],
)
def test_a_label_or_a_denial_from_another_part_is_doubtful(
    source: str, question: str, right: str, wrong: str
) -> None:
    context = {"Context": source}
    assert [doubt.text for doubt in question_doubts(wrong, context, [question])] == [wrong]
    assert [*question_doubts(right, context, [question])] == []


def test_initials_articles_and_units_are_no_labels() -> None:
    text = "A man read A Tale of Ice to J. Fox at 5 W in bag A, says A. B. Moss."
    assert [letter for _, letter in labels(text)] == ["A"]


def test_a_letter_after_a_colon_or_a_numbered_noun_is_a_label() -> None:
    assert [letter for _, letter in labels("question 1: B, question 2: A.")] == ["B", "A"]
    assert [letter for _, letter in labels("question 1 C, flat 12 B")] == ["C", "B"]
    assert [*labels("Re: A question of 5 W, at 20 C, by J. Fox: A. B. Moss")] == []


DOGS = "Dogs are not allowed in the hall. The hall has a lift."


@pytest.mark.parametrize(
    ("answer", "question", "reasons"),
    [
        ("No.", "Are dogs allowed in the hall?", []),
        ("Yes", "Does the hall have a lift?", []),
        ("Yes", "Are dogs allowed in the hall?", ["states"]),
        ("No", "Does the hall have a lift?", ["denies"]),
        ("No", "Are cats allowed in the hall?", ["denies"]),
    ],
)
def test_yes_or_no_alone_is_doubtful_unless_the_source_answers_the_question(
    answer: str, question: str, reasons: list[str]
) -> None:
    doubts = polar_doubts(answer, {"Context": DOGS}, [question])
    assert [doubt.reason.split()[5] for doubt in doubts] == reasons


def test_an_answer_of_function_words_alone_is_doubtful() -> None:
    source = {"Context": "Street lights: Oak Road on, Elm Road off."}
    [doubt] = question_doubts("On.", source, ["Is the light on Elm Road on or off?"])
    assert doubt.reason == "It has no content word that could be compared with the source."


def test_a_word_in_a_list_of_values_is_in_the_source() -> None:
    source = {"Context": "Opening hours:\n- Friday: 09:00-17:00\n- Saturday: 09:00-13:00"}
    question = ["When does the library close on Saturdays?"]
    assert [*question_doubts("At 13:00 on Saturdays.", source, question)] == []


@pytest.mark.parametrize(
    ("question", "stated"),
    [
        ("Do I have to pay for parking?", "parking is free."),
        ("Is there a fee for the sauna?", "the sauna is free."),
        ("May we smoke on the balcony?", "smoking is forbidden on the balcony."),
        ("Do I need to register?", "registration is optional."),
        ("Is entry free?", "entry costs 5 euros."),
    ],
)
def test_a_yes_before_a_statement_that_means_no_is_doubtful(question: str, stated: str) -> None:
    reason = "The answer begins with 'Yes', and the rest of its sentence does not agree with that."
    assert [doubt.reason for doubt in opening_doubts(f"Yes, {stated}", [question])] == [reason]
    assert [*opening_doubts(f"No, {stated}", [question])] == []


def test_a_yes_before_a_denial_of_the_opposite_is_not_doubtful() -> None:
    answer = "Yes, parking is not free."
    assert [*opening_doubts(answer, ["Do I have to pay for parking?"])] == []


@pytest.mark.parametrize(
    ("context", "question", "right", "wrong"),
    [
        ("Ann sold Tom a boat.", "Who sold the boat?", "Ann.", "Tom."),
        ("Ann was hired by Tom.", "Who hired Ann?", "Tom.", None),
        ("Ann was hired by Tom.", "Who hired Tom?", None, "Ann."),
        ("Ann was hired by Tom.", "Who was hired?", "Ann.", "Tom."),
        ("France beat Spain in the final.", "Which team beat Spain?", "France.", None),
        ("France beat Spain in the final.", "Which team beat France?", None, "Spain."),
        ("Ida gave Olga the ring.", "Who gave the ring to Olga?", "Ida.", None),
        ("Lee won in 2018. Kim won in 2021.", "Who won in 2021?", "Kim.", "Lee."),
        ("It moved from Bonn to Berlin.", "Where did it move to?", "Berlin.", "Bonn."),
        ("It moved from Bonn to Berlin.", "From where did it move?", "Bonn.", "Berlin."),
    ],
)
def test_an_answer_with_another_role_is_doubtful(
    context: str, question: str, right: str | None, wrong: str | None
) -> None:
    evidence = {"Context": context}
    if right:
        assert not [*question_doubts(right, evidence, [question])]
    if wrong:
        assert len([*question_doubts(wrong, evidence, [question])]) == 1


FINAL = "Italy beat Spain in the final."
SALE = "Anna bought the car from Ben."
LESSON = "Anna teaches Ben to swim."
AGES = "Kim is older than Lee."
MATCH = "The Reds defeated the Blues 3-1."
CAKE = "Add sugar instead of salt."


def answer_reasons(answer: str, question: str, context: str) -> list[str]:
    return [doubt.reason for doubt in question_doubts(answer, {"Context": context}, [question])]


@pytest.mark.parametrize(
    ("context", "question", "right", "wrong"),
    [
        (FINAL, "Who won the final?", "Italy", "Spain"),
        (FINAL, "Who lost the final?", "Spain", "Italy"),
        (FINAL, "Who was the winner?", "Italy", "Spain"),
        (FINAL, "Who was the loser?", "Spain", "Italy"),
        (MATCH, "Which team won?", "The Reds", "The Blues"),
        (SALE, "Who sold the car?", "Ben", "Anna"),
        (SALE, "Who bought the car?", "Anna", "Ben"),
        (LESSON, "Who was the teacher?", "Anna", "Ben"),
        (LESSON, "Who learns to swim?", "Ben", "Anna"),
        (AGES, "Who is older?", "Kim", "Lee"),
        (AGES, "Who is younger?", "Lee", "Kim"),
        ("Maria killed Jonas.", "Who was the murderer?", "Maria", "Jonas"),
        ("Orbis acquired Kappa.", "Which firm was acquired by Orbis?", "Kappa", "Orbis"),
        ("Leo gave Mia the ring.", "Who received the ring?", "Mia", "Leo"),
    ],
)
def test_an_answer_in_the_other_role_is_doubtful(
    context: str, question: str, right: str, wrong: str
) -> None:
    role = "The source says this of another person or thing than the answer's."
    assert answer_reasons(wrong, question, context) == [role]
    assert answer_reasons(right, question, context) == []


@pytest.mark.parametrize(
    ("context", "question", "answer"),
    [
        ("Maria killed Jonas.", "Who was the victim?", "Jonas"),
        ("Tom married Ruth in 1990.", "Who is the mother?", "Ruth"),
        ("Salieri admired Mozart, who wrote the opera.", "Who wrote the opera?", "Mozart"),
        (f"{FINAL} Spain won the cup.", "Who won the cup?", "Spain"),
        ("Anna beat Ben and Ben beat Carl.", "Who was beaten by Anna?", "Ben"),
        ("Orbis hired Tom Berg in May.", "Who got the job?", "Tom Berg"),
        ("Brutus stabbed Caesar in Rome.", "Who died?", "Caesar"),
    ],
)
def test_an_answer_whose_role_is_not_clear_is_not_doubtful(
    context: str, question: str, answer: str
) -> None:
    assert answer_reasons(answer, question, context) == []


def test_an_answer_that_the_source_replaces_is_doubtful() -> None:
    asked = "What should be added?"
    assert answer_reasons("Salt", asked, CAKE) == ["The source denies or replaces this."]
    assert answer_reasons("Sugar", asked, CAKE) == []
    assert answer_reasons("Salt", "What must not be added?", "Add sugar, not salt.") == []
    assert answer_reasons("Salt", "What is missing?", "There is no salt.") == []
