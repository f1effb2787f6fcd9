"""The form judge: its score, its limits, where it abstains."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from fakes.judges import ASPECT, TASK, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    Located,
    Outcome,
    Report,
    Rescorable,
    RescoringMethod,
    Segment,
    Task,
)
from spanjury.judges.rules import form
from spanjury.judges.rules.form import FormJudge
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
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.judges.text.turns import LONG

SUMMARIES = Task(name="summarization", description="Summarize the article.")
FLUENCY = Aspect(name="fluency", task=SUMMARIES, definition="…", kind="form", inputs=())
PROSE = (
    "The council approved the plan on Monday, after a debate that lasted four hours. Residents "
    "of the old town, who had had no say in it, will protest: “We were never asked,” said "
    "Ann O'Neill (54), an architect. The U.S. firm behind it, Acme Inc., didn't comment... Its "
    "shares rose 3.5% to $1,200.50, more than a year after the firm's first offer.\n\n"
    "What happens next? A judge will hear the case in May; an hour is set aside for it."
)
PIECES = (
    *("the", "The", "dog", "dog.", "a", "apple", "i", "(", ")", '"', "“", ",", ".", " ,", ".."),
    *("\n\n", "\ud800", "&amp;", "AAAAAA", "BB", "of", "1", "- x", "é", "他。"),
)
WON_IT = "won it for the very first time in ten days"
Check = Callable[[FormText], Iterator[ErrorSpan]]
FORM = Aspect(name="fluency", task=TASK, definition="Reads well.", kind="form")
GROUNDING = Aspect(name="consistency", task=TASK, definition="Is supported.", kind="grounding")
BAD = segment(output="the the bridge  was a open in 1935 ( and it was was opened ..")
CAR = segment(output="Acme sold 7 cars in Rome. Jane Roe was pleased in June.")


def checked(text: str, *, max_spans: int = 8) -> Report:
    return FormJudge(max_spans=max_spans)._check(text, aspect=FLUENCY)


async def judged(text: str) -> Report:
    segment = Segment(segment_id="1", output=text, inputs={"Article": "not looked at"})
    return await FormJudge().assess(segment, FLUENCY)


def test_it_is_a_judge_with_a_signature() -> None:
    assert isinstance(FormJudge(), Judge)
    assert FormJudge(max_spans=3).signature.startswith("form|max_spans:3|costs:")


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        FormJudge(max_spans=-1)


async def test_good_prose_has_no_error_and_the_best_score() -> None:
    report = await judged(PROSE)
    assert (report.spans, report.score, report.rationale) == ((), 5, "No error of form found.")


async def test_the_score_is_the_documented_formula() -> None:
    # A severity of 3 costs .5 and one of 4 costs 1; below the best eighth there are 3.5 points.
    report = await judged("He was on on the way. He went to the")
    assert [(span.text, span.severity) for span in report.spans] == [("on on", 3), ("the", 4)]
    assert report.score == pytest.approx(1 + 3.5 / (1 + 1.5))
    assert report.rationale == "2 errors of form in 10 words."


async def test_the_same_error_weighs_less_in_a_longer_text() -> None:
    short = await judged("He sat sat down.")
    long = await judged(f"{PROSE} He sat sat down.")
    assert short.score is not None
    assert long.score is not None
    assert short.score < long.score < 4.5


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        (
            "He left , and she did n't . The man 's dog , a pug , stayed .",
            "Spaces precede punctuation",
        ),
        ("he left -lrb- early -rrb- , and she said `` no '' . it rained .", "in lower case"),
    ],
)
async def test_a_habit_kept_throughout_is_a_note_and_no_error(text: str, habit: str) -> None:
    report = await judged(text)
    assert (report.score, report.spans) == (5, ())
    assert "No error of form found." in report.rationale
    assert habit in report.rationale


async def test_blanks_before_some_marks_are_errors() -> None:
    report = await judged("He left , and she stayed. The dog, a pug, ran. It rained.")
    assert [span.text for span in report.spans] == [" ,"]
    assert report.score is not None
    assert report.score < 4.5


@pytest.mark.parametrize("clean", ["He left.", PROSE, f"He sat sat down. {PROSE} {PROSE}"])
async def test_an_error_more_never_wins_a_better_score(clean: str) -> None:
    before = (await judged(clean)).score
    for damaged in (
        f"{clean} So it it rained.",
        f"{clean} A apple fell.",
        f"{clean} {PROSE} {PROSE}",
    ):
        after = (await judged(damaged)).score
        assert before is not None
        assert after is not None
        assert after < before


@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_an_empty_text_is_judged_the_worst(text: str) -> None:
    report = await judged(text)
    (span,) = report.spans
    assert (report.score, span.text, span.located, span.severity) == (1, "", Located.UNLOCATED, 5)


async def test_it_abstains_on_aspects_of_other_kinds() -> None:
    segment = Segment(segment_id="1", output="Text.")
    report = await FormJudge().assess(segment, replace(FLUENCY, name="coherence", kind="structure"))
    assert report.outcome is Outcome.ABSTAINED
    assert "coherence" in report.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Das Museum sind am Montag und am Dienstag geschlossen.", "the output is German"),
        ("博物馆星期一关门。", "the output is in Chinese or Japanese script"),
        ("Museo on suljettu maanantaisin.", "few words of the output are English"),
        (
            "Der Verein verlor in Köln. Trainer Schmidt war zufrieden.",
            "few words of the output are English",
        ),
        ("asdf qwer zxcv uiop.", "few words of the output are English"),
        ("VGhlIGNpdHkgY291bmNpbCBhcHByb3ZlZA==", "the output is a code"),
    ],
)
async def test_a_text_that_it_cannot_read_gets_no_score(text: str, reason: str) -> None:
    report = await judged(text)
    assert (report.outcome, report.score) == (Outcome.ABSTAINED, None)
    assert report.reason.startswith(reason)
    assert report.reason.endswith("this judge reads English")


async def test_an_error_of_form_counts_in_any_language() -> None:
    report = await judged("Das Museum ist ist am Montag und am Dienstag geschlossen.")
    assert [span.text for span in report.spans] == ["ist ist"]
    assert report.score is not None


@pytest.mark.parametrize("text", ["Yes.", "42", "Ann O'Neill, Acme Inc.", "Rotterdam."])
async def test_a_text_of_names_and_numbers_is_read(text: str) -> None:
    assert (await judged(text)).score == 5


async def test_a_misspelt_word_is_marked_with_the_word_that_may_be_meant() -> None:
    report = await judged("The musuem opnes at ten, and it is definately worth the jouney.")
    meant = [(span.text, span.explanation.split('"')[3]) for span in report.spans]
    assert meant == [
        ("musuem", "museum"),
        ("opnes", "opens"),
        ("definately", "definitely"),
        ("jouney", "journey"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The harbour centre organised a colourful programme of draughts.",
        "Resubscribers replugged the snowmelt filter of the helpdesk.",
        "A lidrr scans the field, and the lidrr is cheap.",  # what recurs may be a term
        "the musuem opens at ten. it closes at five.",  # in lower case throughout, as in data
        "Aaron siler , 26 , was seen by officer pablo torres . Torres is on leave .",
        "See musuem.org, @musuem or the file musuem/plan.",
    ],
)
async def test_no_word_is_marked_that_may_be_right(text: str) -> None:
    assert "spelling" not in {span.category for span in (await judged(text)).spans}


def test_only_the_gravest_spans_are_kept_in_order_of_place() -> None:
    report = checked("He left , she sat sat down. It was it was the", max_spans=2)
    assert [span.text for span in report.spans] == ["sat sat", "the"]


def test_an_error_within_another_is_not_marked_twice() -> None:
    sentence = "The dog dog barked at him."
    report = checked(f"{sentence} He ran. {sentence}")
    assert [span.text for span in report.spans] == ["dog dog", "The dog dog barked at him"]


async def test_long_texts_are_judged_outside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def read(text: str, *, is_whole: bool) -> FormText:
        threads.append(threading.get_ident())
        return read_form(text, is_whole=is_whole)

    monkeypatch.setattr(form, "read_form", read)
    await judged(PROSE)
    await judged(PROSE * (LONG // len(PROSE) + 1))
    assert threads[0] == threading.get_ident()
    assert threads[1] != threading.get_ident()


@given(st.text(max_size=100) | st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_any_text_is_judged_within_the_scale(text: str) -> None:
    report = checked(text)
    assert report.score is not None
    assert report.score in FLUENCY.scale
    assert len(report.spans) <= 8
    starts = [span.start or 0 for span in report.spans]
    assert starts == sorted(starts)
    for span in report.spans:
        assert span.start is None or text[span.start : span.end] == span.text
    assert (report.score == FLUENCY.scale.high) == (not report.spans)


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
        (broken_off, "The council decided to", [("to", 4)]),
        (broken_off, "He left. They were", [("were", 4)]),
        (broken_off, "Dear Ann,\n\nI am well and", [("and", 4)]),
        (broken_off, "He said: “I will go to the", [("the", 4)]),
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
        (broken_off, "He left. See https://example.org/a or mail to ann@example.org"),
        (broken_off, "It is done. Thanks! :-D"),
        (broken_off, "Ok, see you ;)"),
        (broken_off, "He left.[1] She stayed.[2]"),
        (broken_off, "He wrote it. (Reuters)"),
        (broken_off, "It works. Run `pip install the`"),
        (broken_off, "I am well. See you soon. Best regards, Peter Smith"),
        (broken_off, "Dear Ann,\n\nI am well.\n\nYours sincerely,\n"),
        (broken_off, "Be yourself. Everyone else is taken. - Oscar Wilde"),
        (broken_off, "He left.\n\n---\n"),
        (broken_off, "| who | where |\n|---|---|\n| Ann | - |"),
        (broken_off, "O captain,\nmy captain,\nour fearful trip is done,"),
        (broken_off, "Where does it come from"),
        (broken_off, "Is he tall? He is"),
        (broken_off, "I know who he is"),
        (broken_off, "She said “come in”"),
        (broken_off, "Das Licht ist an. Er ging danach sehr spät nach Hause."),
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


def graver(span: ErrorSpan) -> ErrorSpan:
    return replace(span, severity=min(5, (span.severity or 0) + 1))


def test_both_offline_judges_can_rescore() -> None:
    assert isinstance(FormJudge(), Rescorable)
    assert isinstance(GroundingJudge(), Rescorable)


@pytest.mark.parametrize("max_spans", [0, 1, 8])
async def test_an_unchanged_list_keeps_its_score_with_few_spans_reported(max_spans: int) -> None:
    judge = FormJudge(max_spans=max_spans)
    report = await judge.assess(BAD, FORM)
    rescoring = await judge.rescore(BAD, FORM, report.spans)
    assert rescoring.report.score == report.score
    assert (rescoring.report.spans, rescoring.method) == (report.spans, RescoringMethod.COMPUTED)


async def test_the_score_follows_the_list() -> None:
    judge = FormJudge()
    report = await judge.assess(BAD, FORM)
    assert len(report.spans) > 1
    scores = [
        (await judge.rescore(BAD, FORM, spans)).report.score or 0
        for spans in ([graver(span) for span in report.spans], report.spans, report.spans[1:], ())
    ]
    assert (scores, scores[-1], len(set(scores))) == (sorted(scores), FORM.scale.high, 4)


async def test_another_aspect_is_abstained_from() -> None:
    rescoring = await FormJudge().rescore(BAD, ASPECT, ())
    assert rescoring.report.outcome is Outcome.ABSTAINED


@given(st.text(max_size=60))
def test_whatever_the_text_an_unchanged_list_keeps_its_score(text: str) -> None:
    judge = FormJudge(max_spans=2)
    report = judge._check(text, aspect=FORM)
    assert judge._check(text, aspect=FORM, spans=report.spans).score == report.score


@pytest.mark.parametrize("max_spans", [0, 1, 8])
async def test_grounding_keeps_its_score_for_an_unchanged_list(max_spans: int) -> None:
    judge = GroundingJudge(max_spans=max_spans)
    report = await judge.assess(CAR, GROUNDING)
    rescoring = await judge.rescore(CAR, GROUNDING, report.spans)
    assert rescoring.report == report
    assert rescoring.method is RescoringMethod.COMPUTED


async def test_the_score_of_grounding_follows_the_list() -> None:
    judge = GroundingJudge()
    report = await judge.assess(CAR, GROUNDING)
    assert len(report.spans) > 1
    scores = [
        (await judge.rescore(CAR, GROUNDING, spans)).report.score or 0
        for spans in ([graver(span) for span in report.spans], report.spans, report.spans[1:], ())
    ]
    assert (scores, len(set(scores))) == (sorted(scores), 4)
