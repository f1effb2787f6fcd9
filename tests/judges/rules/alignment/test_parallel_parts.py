"""Answers from another part of the sentence than the one that the question is about."""

import pytest

from spanjury.judges.rules.alignment.questions import question_doubts

REASON = "The question has more words of another part of the source than of the answer's."

PAIRS = [
    (
        "The library is in Mill Lane; meetings are held in the town hall.",
        "Where is the library?",
        "In Mill Lane.",
        "In the town hall.",
    ),
    ("Adults pay 8 euros, children 5 euros.", "What do adults pay?", "8 euros.", "5 euros."),
    ("Adults pay 8 euros, children 5 euros.", "What do children pay?", "5 euros.", "8 euros."),
    (
        "Anna Berg leads the choir and Tom Lind the orchestra.",
        "Who leads the orchestra?",
        "Tom Lind.",
        "Anna Berg.",
    ),
    (
        "Ben teaches French in Lund and Latin in Dorn.",
        "Where does Ben teach Latin?",
        "In Dorn.",
        "In Lund.",
    ),
    (
        "The soup is vegan, but the bread contains butter.",
        "What does the bread contain?",
        "Butter.",
        "Soup.",
    ),
    (
        "The mill was built in 1850, burned down in 1901 and was rebuilt in 1905.",
        "When was the mill rebuilt?",
        "In 1905.",
        "In 1850.",
    ),
    (
        "The bridge is 240 metres long, 12 metres wide and carries two lanes.",
        "How wide is the bridge?",
        "12 metres.",
        "240 metres.",
    ),
    (
        "The first prize went to Lena Fox, the second to Omar Lind.",
        "Who won the first prize?",
        "Lena Fox.",
        "Omar Lind.",
    ),
    (
        "The lease runs for three years and the notice period is three months.",
        "How long is the notice period?",
        "Three months.",
        "Three years.",
    ),
    (
        "Tea is served on the terrace, dinner in the garden room.",
        "Where is dinner served?",
        "In the garden room.",
        "On the terrace.",
    ),
    (
        "The library is in the park. Meetings are held in the town hall.",
        "Where is the library?",
        "In the park.",
        "In the town hall.",
    ),
    ("Roles: tea Anna, cake Ben, chairs Carla.", "Who brings the cake?", "Ben.", "Anna."),
    ("Bins: glass green, paper blue and metal grey.", "Which bin is for metal?", "Grey.", "Blue."),
    ("Cable X carries power; cable Y carries data.", "What does cable Y carry?", "Data.", "Power."),
]


def reasons(answer: str, *, question: str, source: str) -> list[str]:
    doubted = question_doubts(answer, {"Context": source}, [question])
    return [doubt.reason for doubt in doubted]


@pytest.mark.parametrize(("source", "question", "right", "wrong"), PAIRS)
def test_an_answer_from_another_part_of_a_sentence_is_doubtful(
    source: str, question: str, right: str, wrong: str
) -> None:
    assert reasons(wrong, question=question, source=source) == [REASON]
    assert reasons(right, question=question, source=source) == []


@pytest.mark.parametrize(
    ("source", "question", "answer"),
    [
        ("The hall, which was built in 1850, closed in 1987.", "When did the hall close?", "1987"),
        ("The library opened in May. It is in the park.", "Where is the library?", "In the park."),
        ("Anna Berg, sister of Tom, leads the choir.", "Who leads the choir?", "Anna Berg."),
        ("The bread is dark and contains butter.", "What is in the bread?", "Butter."),
        (
            "Ann Roe was born in 1956. Ben Ost is 30.",
            "Who is younger, Ann Roe or Ben Ost?",
            "Ben Ost",
        ),
        ("It rained, and the match was off.", "Why was the match off?", "It rained."),
        (
            "The red van, a Ford, belongs to Kim; the blue van, a Fiat, belongs to Lou.",
            "Whose is the red van?",
            "Kim",
        ),
        ("Niels Bohr, Danish physicist, won a prize.", "Who was the physicist?", "Niels Bohr"),
    ],
)
def test_an_answer_whose_part_continues_the_part_before_it_is_not_doubtful(
    source: str, question: str, answer: str
) -> None:
    assert reasons(answer, question=question, source=source) == []
