"""Statements that the source withdraws."""

import pytest

from spanjury.judges.rules.alignment.contradictions import contradictions
from spanjury.judges.rules.alignment.corrections import correction_doubts

TALK = "The talk is on Friday. It is in room 12. Update: the talk has been moved to Monday."
PAPERS = "Papers are due on 3 May. The date was moved from 3 May to 10 May."
CHAIR = "The chair is Ben Ost. Correction: the chair is Ann Roe, not Ben Ost."
DOGS = "Dogs are allowed in the hall. Update: dogs are no longer allowed in the hall."
CHAT = "Ann: We meet at 3 on Tuesday.\nBen: Sorry, make it 4."


def doubted(output: str, source: str) -> list[str]:
    return [doubt.text.strip() for doubt in correction_doubts(output, {"Mails": source})]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The talk is on Friday.", TALK),
        ("The chair is Ben Ost.", CHAIR),
        ("Dogs are allowed in the hall.", DOGS),
        ("We meet at 3 on Tuesday.", CHAT),
        ("We meet at 3.", "Correction: we meet at 4, not 3.\n\nWe meet at 3 in the hall."),
    ],
)
def test_a_statement_that_the_source_corrects_is_doubtful(output: str, source: str) -> None:
    assert doubted(output, source) == [output]


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The talk has been moved to Monday.", TALK),
        ("It is in room 12.", TALK),
        ("The date was moved from 3 May to 10 May.", PAPERS),
        ("The chair is Ann Roe.", CHAIR),
        ("The fee is 40 euros.", "The fee is 40 euros. The talk was moved to Monday."),
        ("The talk is on Friday.", "The lunch was moved to Monday. The talk is on Friday."),
        ("Eva's talk is on 3 May.", "Eva's talk is on 3 May. The talk of Max was moved to 5 May."),
    ],
)
def test_other_statements_are_not_doubtful(output: str, source: str) -> None:
    assert doubted(output, source) == []


def test_the_reason_quotes_the_correction() -> None:
    [doubt] = correction_doubts("The chair is Ben Ost.", {"Mails": CHAIR})
    quote = "Correction: the chair is Ann Roe, not Ben Ost."
    assert doubt.reason == f"The source corrects this: '{quote}'"
    assert doubt.is_binding


def test_a_corrected_statement_does_not_contradict_its_correction() -> None:
    source = "We meet at 10 in room 204. Correction: we meet in room 310, not 204."
    assert contradictions("We meet at 10 in room 310.", {"Mails": source}) == []
    assert contradictions("We meet at 10 in room 412.", {"Mails": source}) != []
