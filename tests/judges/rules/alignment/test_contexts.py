"""Sentences of the source in another context."""

import pytest

from spanjury.judges.rules.alignment.contexts import context_doubts

SOURCE = """Standard plan
It includes 5 GB of storage. Invoices come monthly.

Premium plan
It includes 50 GB of storage. Invoices come yearly.

Anna Berg founded the firm. Tom Lind joined in 2003. He became its director. He retired in 2010.
The town sold the mill. This angered many people. It was good to see them.
Switch off the power. Then remove the cover. Clean the filter."""


def doubted(output: str) -> list[str]:
    return [doubt.text for doubt in context_doubts(output, {"Manual": SOURCE})]


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("Anna Berg founded the firm. He became its director.", "He became its director."),
        ("Tom Lind joined. This angered many people.", "This angered many people."),
        ("The town sold the mill. It joined in 2003.", "It joined in 2003."),
        ("Standard plan\nIt includes 50 GB of storage.", "It includes 50 GB of storage."),
        ("Standard plan\nInvoices come yearly.", "Invoices come yearly."),
        ("Remove the cover. Then switch off the power.", "Then switch off the power."),
        ("Remove the cover. Switch off the power.", "Switch off the power."),
    ],
)
def test_a_sentence_in_another_context_is_doubtful(output: str, sentence: str) -> None:
    assert doubted(output) == [sentence]


@pytest.mark.parametrize(
    "output",
    [
        SOURCE,
        "He became its director.",
        "Tom Lind joined in 2003. He retired in 2010.",
        "Premium plan\nIt includes 50 GB of storage.",
        "Premium plan\nInvoices come yearly.",
        "Switch off the power. Then remove the cover.",
        "The town sold the mill. Anna Berg founded the firm.",
        "Anna Berg founded the firm. It was good to see them.",
        "The mill was sold. He plays chess.",
    ],
)
def test_other_sentences_are_not_doubtful(output: str) -> None:
    assert doubted(output) == []
