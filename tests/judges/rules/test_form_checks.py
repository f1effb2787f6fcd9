"""The checks of form: what each marks, and what it leaves alone."""

from collections.abc import Callable, Iterator

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_checks import (
    articles,
    broken_off,
    debris,
    disagreement,
    doubled_marks,
    lower_case_starts,
    lower_i,
    misheard,
    missing_blanks,
    repeated_passages,
    shouting,
    stray_blanks,
    stuttering,
    unclosed_quotes,
    unpaired_brackets,
)
from spanjury.judges.rules.form_text import FormText, read_form

WON_IT = "won it for the very first time in ten days"
Check = Callable[[FormText], Iterator[ErrorSpan]]


def marked(check: Check, text: str) -> list[tuple[str, int | None]]:
    spans = list(check(read_form(text)))
    assert all(text[span.start : span.end] == span.text for span in spans)
    return [(span.text, span.severity) for span in spans]


def test_an_error_is_marked() -> None:
    for check, text, expected in [
        (stuttering, "It was on on the table.", [("on on", 3)]),
        (stuttering, "A jet jet jet flew.", [("jet jet jet", 3)]),
        (stuttering, "He said in the in the end.", [("in the in the", 3)]),
        (
            repeated_passages,
            "The dog barked at him. It ran off. The dog barked at him.",
            [("The dog barked at him", 4)],
        ),
        (repeated_passages, f"He {WON_IT}, and she {WON_IT}.", [(WON_IT, 3)]),
        (broken_off, "He left. He was going to the", [("the", 4)]),
        (broken_off, "The price of the. He left.", [("the", 4)]),
        (broken_off, "He left early,", [(",", 3)]),
        (broken_off, "He left. She stayed at home", [("home", 2)]),
        (unpaired_brackets, "He (the king left.", [("(", 2)]),
        (unpaired_brackets, "He [the king) left].", [(")", 2)]),
        (unclosed_quotes, 'He said "no.', [('"', 2)]),
        (unclosed_quotes, "He said “no.", [("“", 2)]),
        (unclosed_quotes, "He said no”.", [("”", 2)]),
        (lower_case_starts, "He left the house. then he came. He sat.", [("then", 2)]),
        (lower_i, "When i came, he left.", [("i", 2)]),
        (shouting, "He said THIS IS REALLY GREAT today.", [("THIS IS REALLY GREAT", 2)]),
        (stray_blanks, "He left , and she came. It ended.", [(" ,", 1)]),
        (missing_blanks, "He left,and she came.Then it ended.", [(",", 1), (".", 1)]),
        (doubled_marks, "He left,, and she came..", [(",,", 2), ("..", 2)]),
        (debris, "caf\ufffd", [("\ufffd", 4)]),
        (debris, "cafÃ© and itâ€™s", [("Ã©", 4), ("â€™", 4)]),
        (debris, "a &amp; b\\n c\x07", [("&amp;", 3), ("\\n", 3), ("\x07", 3)]),
        (debris, "the <unk> of <br/> [deleted]", [("<unk>", 4), ("<br/>", 3), ("[deleted]", 3)]),
        (debris, "half a \ud83d face", [("\ud83d", 4)]),
        (articles, "It is a apple and an cherry.", [("a apple", 2), ("an cherry", 2)]),
        (disagreement, "They was late. He have a car.", [("They was", 3), ("He have", 3)]),
        (misheard, "He could of come to the an end.", [("could of", 2), ("the an", 3)]),
    ]:
        assert marked(check, text) == expected, (check, text, expected)


def test_correct_text_is_left_alone() -> None:
    for check, text in [
        (stuttering, "He had had enough of Duran Duran, and it was very very good, more and more."),
        (stuttering, "Call five five five. Yes, yes. It is step by step by step."),
        (repeated_passages, "Paris is big. Rome is big. The mayor of Paris met the mayor of Rome."),
        (broken_off, "Storm hits Leeds"),
        (broken_off, "He took vitamin A. She waited..."),
        (broken_off, "Roses are red\nViolets are blue"),
        (broken_off, 'He said: "Come in."'),
        (unpaired_brackets, "a) this, b) that :) and (1) the rest [sic] {all}"),
        (unclosed_quotes, 'It\'s the dogs\' "bone", a 5" screen'),
        (unclosed_quotes, "“One.\n\n“Two.”"),
        (lower_case_starts, "He has it. iPhones sell. “Go!” she said. It cost approx. two pounds."),
        (lower_case_starts, "he left. then he came. he sat."),
        (stray_blanks, "He left , and she came . It ended ."),
        (lower_i, "Point (i) and i.e. that; I am."),
        (lower_i, "i am here. so i said. i left."),
        (shouting, "NATO and the USA met the EU, UN, WHO and IMF."),
        (stray_blanks, "It is .5, or ... maybe not :)"),
        (missing_blanks, "See www.Example.com or 1,200 at e.g.Paris; U.S.A. and Node.js."),
        (doubled_marks, "Wait... e.g., Inc., and so on?! It was . . . fine."),
        (debris, "A & B cost £5 – “naïve” São Paulo; x < y; C:\\new."),
        (articles, "An hour, a union, a one-off, an MP, a European, an FBI agent, a US firm."),
        (
            articles,
            "Vitamin a is good; an 8 and an x-ray; an heir; a unicorn; an unidentified man.",
        ),
        (disagreement, "Did he have it? One of they is; if it were; she has. We are. They have."),
        (misheard, "He could, of course, come. The A team won. Could of course be."),
    ]:
        assert marked(check, text) == [], (check, text)
