"""Speakers: who says "I"."""

import pytest

from spanjury.judges.text.speakers import spoken

MAILS = (
    "From: Petra Wolf\nTo: Hal\nDear Hal, I left the keys. I'll be back on Monday.\n\n"
    "From: Hal\nTo: Petra Wolf\nThanks Petra, I collected them."
)


def test_a_speaker_stands_for_i_and_the_verb_agrees() -> None:
    talk = "Ann: I'm late, and I have no key.\nTom: I carry the tea, and then I wash up."
    assert spoken(talk).splitlines() == [
        "Ann: Ann is late, and Ann has no key.",
        "Tom: Tom carries the tea, and then Tom washes up.",
    ]


def test_the_sender_of_a_mail_is_its_speaker_and_a_greeting_is_a_sentence() -> None:
    assert "Dear Hal. Petra Wolf left the keys. Petra Wolf will be back" in spoken(MAILS)
    assert "Thanks Petra. Hal collected them." in spoken(MAILS)


@pytest.mark.parametrize(
    "text",
    [
        "I sold the mill. Ann: a name.",
        "Ann: I sold the mill.",
        'Ann: Tom said "I won".\nTom: He said "I lost".',
        "",
    ],
)
def test_prose_a_single_turn_and_a_turn_with_a_quotation_are_unchanged(text: str) -> None:
    assert spoken(text) == text


@pytest.mark.parametrize(
    "quoted",
    [
        "> I paid the bill.",
        "Hal wrote:\nI paid the bill.",
        "On Tue, Hal <hal@mill.example> wrote:\n\nI paid the bill.",
        "-----Original Message-----\nI paid the bill.",
        "Hal replied: I paid the bill.",
    ],
)
def test_the_writer_of_a_quoted_mail_is_not_the_sender(quoted: str) -> None:
    mail = f"From: Petra Wolf\nTo: Hal\nSubject: Mill\n\nI sold the mill.\n\n{quoted}"
    assert spoken(mail).endswith(f"Petra Wolf sold the mill.\n\n{quoted}")
