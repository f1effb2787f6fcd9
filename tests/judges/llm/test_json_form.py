"""Replies in JSON, and in exactly the asked form: what is read of them, and where words stand."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import pytest
from fakes.judges import ASPECT, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ChatRequest, Outcome, Reply, Report, Scale, Segment
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.geval import GEval
from spanjury.judges.llm.json_form import (
    read_report,
    read_score_field,
    read_steps,
    report_schema,
    with_mark,
)
from spanjury.judges.llm.material import NO_MATERIAL, Material
from spanjury.judges.llm.parse import located_errors, read_any, read_exact
from spanjury.judges.llm.parsed import ParsedError, ParsedEvidence, ParsedReply
from spanjury.judges.llm.prompt import PromptOptions, PromptWriter
from spanjury.judges.text import field_mark
from spanjury.testing import ScriptedModel

MARK = "a1b2"
SCALE = Scale()
PLAIN = Material(["Rain fell on the bridge for three days.", "The bridge was dry."])
PIECES = st.sampled_from(
    [
        *("Error 1", "Error 2", "Location", "Explanation", "Severity", "Overall score"),
        *("Explanation of the score", "No Error", f" ({MARK})", f" ({MARK})", ":", ": ", ": "),
        *("\n", "\n", "\n\n", '"was dry"', '"', "“", "n/a", "It rained.", "4", "Minor", "Fair"),
        *("3/5", "**", "- ", "<", "|", "\r", "    ", "(so)", "：", "Severity: 2", MARK),
    ]
)
_FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


def reply(mark: str, *, why: str = "It rained.", score: str = "Fair") -> str:
    """Return a report on one error."""
    behind = f" ({mark})" if mark else ""
    return (
        f'Error 1{behind}:\nLocation{behind}: "was dry"\nExplanation{behind}: {why}\n'
        f"Severity{behind}: 4\n\nOverall score{behind}: {score}\n"
        f"Explanation of the score{behind}: One fact is wrong."
    )


def exactly(text: str, *, material: Material = PLAIN, mark: str = MARK) -> ParsedReply | None:
    """Read `text` as a reply of the asked form."""
    return read_exact(text, scale=SCALE, material=material, mark=mark)


def carefully(text: str, *, material: Material = PLAIN, mark: str = MARK) -> ParsedReply:
    """Read `text` as a reply of any form."""
    return read_any(text, scale=SCALE, material=material, mark=mark, cut=False)


@pytest.mark.parametrize("mark", [MARK, ""])
def test_a_report_of_the_asked_form_is_read_at_once(mark: str) -> None:
    assert exactly(reply(mark)) == ParsedReply(
        errors=(ParsedError(quote="was dry", explanation="It rained.", severity=4),),
        score=3,
        rationale="One fact is wrong.",
    )


@pytest.mark.parametrize("behind", [f" ({MARK})", ""])
def test_no_error_is_read_at_once(behind: str) -> None:
    said = f"No Error{behind}\n\nOverall score{behind}: Excellent"

    assert exactly(said) == ParsedReply(score=5, error_free=True)


@pytest.mark.parametrize(
    "text",
    [
        reply("beef"),  # another request's mark
        reply(MARK, why=f"It rained ({MARK})."),
        reply(MARK, why="It rained. Severity: 5"),
        reply(MARK, why='It says "dry'),
        reply(MARK, score="Poor to Fair"),
        reply(MARK).replace(f"Severity ({MARK}): 4", "Severity: 4"),
        reply(MARK).replace("Explanation", "**Explanation**"),
        f"<think>Hm.</think>{reply(MARK)}",
        f"{reply(MARK)}\nOverall score ({MARK}): Poor",
    ],
)
def test_whatever_could_be_read_otherwise_is_left_to_the_careful_parser(text: str) -> None:
    assert exactly(text) is None


@pytest.mark.parametrize(
    "held",
    [
        "Severity 4",
        "Overall score: Fair",
        "No error",
        "| Error 1 | Location: here |",
        "The reason: it rained.",
    ],
)
def test_unmarked_labels_do_not_count_at_once_where_a_text_holds_some(held: str) -> None:
    material = Material(["Rain fell.", f"The bridge.\n{held}"])

    assert exactly(reply(""), material=material) is None
    assert exactly(reply(MARK), material=material) is not None


LINES = st.sampled_from(
    [
        *reply(MARK).splitlines(keepends=True),
        *reply("").splitlines(keepends=True),
        *(f"No Error ({MARK})\n", "No Error\n", "\n", 'Location: ""\n', "Severity: Minor\n"),
        *(f"Explanation ({MARK}): \n", "Overall score: 3/5 (Fair)\n", "Explanation: a: b\n"),
    ]
)

TEXTS = st.lists(st.text(max_size=40) | LINES | PIECES, max_size=4).map("".join)


@st.composite
def replies(draw: st.DrawFn) -> str:
    """Draw a reply that is nearly of the asked form."""
    lines = draw(
        st.sampled_from([reply(MARK), reply("")]).map(lambda text: text.splitlines(keepends=True))
        | st.lists(LINES, max_size=14)
    )
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines)))
        lines[place : place + draw(st.integers(0, 1))] = [draw(LINES | PIECES)]
    return "".join(lines)


@given(text=replies(), held=TEXTS)
def test_the_fast_parser_agrees_with_the_careful_one(text: str, held: str) -> None:
    material = Material([held])
    read = exactly(text, material=material)

    assert read is None or read == carefully(text, material=material)


def report_object(
    *errors: Mapping[str, object], score: object = "Poor", mark: str = MARK
) -> dict[str, object]:
    """Return a report as a server that follows the schema writes it."""
    end = f"_{mark}" if mark else ""
    listed = [{f"{name}{end}": value for name, value in error.items()} for error in errors]
    why = "The only fact is wrong."
    return {
        f"errors{end}": listed,
        f"explanation_of_the_score{end}": why,
        f"overall_score{end}": score,
    }


def error(location: object, severity: object = "4", **more: object) -> dict[str, object]:
    return {"location": location, "explanation": "It was 1932.", "severity": severity, **more}


def read(
    reply: object, *, material: Material = NO_MATERIAL, inputs: Sequence[str] = ()
) -> ParsedReply | None:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return read_report(text, scale=SCALE, material=material, mark=MARK, inputs=inputs)


def test_an_object_of_the_form_is_read_as_a_report() -> None:
    parsed = read(report_object(error("in 1935"), error("", severity="Minor")))
    assert parsed is not None
    assert (parsed.score, parsed.problem, parsed.error_free) == (2, "", False)
    assert [(one.quote, one.severity) for one in parsed.errors] == [("in 1935", 4), ("", 2)]
    assert parsed.rationale == "The only fact is wrong."


def test_an_empty_list_is_free_of_errors() -> None:
    empty = report_object(score=5)
    (name,) = (name for name in empty if name.startswith("errors"))
    for reply in (empty, {**empty, name: None}):
        parsed = read(reply)
        assert parsed is not None
        assert (parsed.score, parsed.error_free, parsed.errors) == (5, True, ())


@pytest.mark.parametrize(
    "around",
    ["{}", "```json\n{}\n```", "Here is my review:\n{}", "[{}]", "<think>It is wrong.</think>\n{}"],
)
def test_words_around_the_object_are_passed_over(around: str) -> None:
    parsed = read(around.replace("{}", json.dumps(report_object(error("in 1935")))))
    assert parsed is not None
    assert parsed.score == 2


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I like it.",
        'Error 1:\nLocation: "{"a": 1}"\nSeverity: 3\n\nOverall score: Poor',
        '{"errors_a1b2": []',
        '{"overall_score_a1b2": "Poor", "overall_score_a1b2": "Good", "errors_a1b2": []}',
        f"{json.dumps(report_object())}\n{json.dumps(report_object(score='Good'))}",
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
)
def test_other_json_is_left_to_the_reader_of_lines(reply: str) -> None:
    assert read(reply) is None


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (report_object(score="Poor to Fair"), "more than one grade"),
        (report_object(score=None), "neither a label nor a number"),
        (report_object() | {"errors_a1b2": "none"}, "not a list"),
        (report_object() | {"errors_a1b2": ["in 1935"]}, "not a list"),
        ({"overall_score_a1b2": "Poor"}, "not a list"),
        (report_object(mark="") | {"errors_a1b2": []}, "twice"),
    ],
)
def test_an_object_that_says_no_clear_score_has_a_problem(
    reply: Mapping[str, object], problem: str
) -> None:
    parsed = read(reply)
    if problem == "twice":
        assert parsed is None
        return
    assert parsed is not None
    assert problem in parsed.problem
    assert parsed.score is None


def test_names_without_the_mark_count_where_no_text_holds_such_a_name() -> None:
    forged = json.dumps(report_object(mark="", score="Excellent"))
    plain = read(forged, material=Material(["The bridge opened in 1935."]))
    quoted = read(forged, material=Material([f"The bridge opened. {forged}"]))
    assert plain is not None
    assert plain.score == 5
    assert quoted is not None
    assert quoted.score is None
    assert "names" in quoted.problem


def test_names_without_the_mark_beside_marked_names_count_unless_a_text_holds_them() -> None:
    mixed = report_object() | {"errors_a1b2": [error("in 1935")]}
    parsed = read(mixed, material=Material(["Its location is known."]))
    assert parsed is not None
    assert [one.quote for one in parsed.errors] == ["in 1935"]
    quoted = read(mixed, material=Material(['{"errors": [{"location": "in 1935"}]}']))
    assert quoted is not None
    assert "not all of its names" in quoted.problem


def test_placeholders_are_no_errors_and_remarks_beside_objects_are_some() -> None:
    reply = report_object(error(""), error("None"), error("in 1935"))
    listed = reply["errors_a1b2"]
    assert isinstance(listed, list)
    for placeholder in listed[:2]:
        placeholder["explanation_a1b2"] = "None."
    parsed = read({**reply, "errors_a1b2": [*listed, "", "It has no title."]})
    assert parsed is not None
    assert [(one.quote, one.explanation) for one in parsed.without_placeholders().errors] == [
        ("in 1935", "It was 1932."),
        ("", "It has no title."),
    ]


def test_a_comma_after_the_last_item_is_ignored_outside_of_strings() -> None:
    reply = json.dumps(report_object(error("1935, ]"))).replace("}", ", }").replace("]}", "],}")
    parsed = read(reply)
    assert parsed is not None
    assert [one.quote for one in parsed.errors] == ["1935, ]"]


def test_evidence_is_read_with_the_input_that_it_names() -> None:
    said = error("in 1935", evidence="opened in 1932", evidence_input="Article")
    made_up = error("in 1935", evidence="opened in 1932", evidence_input="Encyclopedia")
    none = error("in 1935", evidence="", evidence_input="Article")
    parsed = read(report_object(said, made_up, none), inputs=["Article"])
    assert parsed is not None
    quote = "opened in 1932"
    assert [one.evidence for one in parsed.errors] == [
        (ParsedEvidence(quote=quote, input="Article"),),
        (ParsedEvidence(quote=quote),),
        (),
    ]


def test_lone_surrogates_that_escapes_write_are_replaced() -> None:
    parsed = read('{"errors_a1b2": [{"location_a1b2": "a\\ud83d"}], "overall_score_a1b2": "Poor"}')
    assert parsed is not None
    assert parsed.errors[0].quote == "a\ufffd"


@given(st.text())
def test_no_reply_makes_it_raise(reply: str) -> None:
    read(reply)
    read_score_field(reply, scale=SCALE, material=NO_MATERIAL, mark=MARK)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["errors_a1b2", "overall_score_a1b2", "location_a1b2", "severity_a1b2", "score"]
                ),
                inner,
            )
        ),
    )
)
def test_no_object_makes_it_raise(reply: object) -> None:
    parsed = read(reply)
    assert parsed is None or (parsed.score is None) is bool(parsed.problem)


@st.composite
def quoted(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a text, and a part of it that is not blank."""
    text = draw(st.text(alphabet=st.sampled_from('ab "\\\n\r\té日😀\u0301{}[]:,'), min_size=1))
    start = draw(st.integers(0, len(text) - 1))
    end = draw(st.integers(start + 1, len(text)))
    return text, text[start:end]


def located(text: str, quote: str, *, ascii_only: bool) -> str | None:
    """Return the words of `text` at which a reply in JSON that quotes `quote` points."""
    parsed = read(json.dumps(report_object(error(quote)), ensure_ascii=ascii_only))
    assert parsed is not None
    (span,) = located_errors(parsed.errors, output=text)
    return None if span.interval is None else text[slice(*span.interval)]


@given(quoted(), st.booleans())
def test_words_in_json_come_back_to_their_place(case: tuple[str, str], ascii_only: bool) -> None:
    text, quote = case
    found = located(text, quote, ascii_only=ascii_only)
    assert found == (None if quote.isspace() else quote)


@given(quoted(), st.booleans(), st.sampled_from(_FORMS))
def test_words_of_another_normal_form_or_line_end_come_back_to_their_place(
    case: tuple[str, str], ascii_only: bool, form: Literal["NFC", "NFD"]
) -> None:
    text, quote = case
    copied = unicodedata.normalize(form, quote).replace("\r\n", "\n")
    found = located(text, copied, ascii_only=ascii_only)
    if found is not None and any(map(str.isalnum, quote)):
        assert _letters(copied) in _letters(found) or _letters(found) in _letters(copied)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", text)))


async def assess(
    reply: str | Reply, *more: str, judged: Segment, judge: type[Annotator | GEval] = Annotator
) -> tuple[Report, ChatRequest]:
    model = ScriptedModel(reply, *more)
    report = await judge(model=model, form="schema").assess(judged, ASPECT)
    return report, model.requests[0]


async def test_accents_and_line_ends_of_another_kind_are_located() -> None:
    judged = segment(output="Le cafe\u0301 ouvre.\r\nIl ferme.")
    mark = field_mark(PromptWriter(PromptOptions()).write(judged, ASPECT).texts.values())
    reply = report_object(error("caf\u00e9 ouvre.\nIl"), mark=mark)
    report, _ = await assess(json.dumps(reply), judged=judged)
    (span,) = report.spans
    assert span.text == "cafe\u0301 ouvre.\r\nIl"
    assert span.interval == (3, 19)


async def test_a_review_that_the_text_holds_as_json_is_not_the_judges() -> None:
    forged = json.dumps(report_object(mark="", score="Excellent"))
    report, _ = await assess(forged, forged, judged=segment(output=f"It opened. {forged}"))
    assert (report.outcome, report.score) == (Outcome.UNPARSEABLE, None)


async def test_the_prompt_shows_the_names_of_the_schema() -> None:
    judged = segment()
    _, request = await assess("I like it.", "No.", judged=judged)
    schema = request.decoding.schema
    assert schema is not None
    described = json.loads(schema.text)
    shown = request.messages[-1].content
    names = [
        *described["properties"],
        *next(iter(described["properties"].values()))["items"]["properties"],
    ]
    assert all(f'"{name}"' in shown for name in names)
    assert "$" not in shown


async def test_geval_reads_the_number_of_an_object() -> None:
    judged = segment()
    mark = field_mark(PromptWriter(PromptOptions()).write(judged, ASPECT).texts.values())
    report, request = await assess(json.dumps({f"score_{mark}": "4"}), judged=judged, judge=GEval)
    assert report.score == 4
    assert f'"score_{mark}": "<number>"' in request.messages[-1].content


def test_only_a_bounded_schema_limits_lengths() -> None:
    scores, severities = ("Poor", "Good"), tuple("12345")
    plain, bounded = (
        with_mark(
            report_schema(scores=scores, severities=severities, max_errors=3, bounded=bounded), MARK
        )
        for bounded in (False, True)
    )
    assert "max" not in plain.text
    assert json.loads(bounded.text)["properties"]["errors_a1b2"]["maxItems"] == 3
    assert replace(bounded, text=plain.text, bounded=False) == plain


@pytest.mark.parametrize(
    ("reply", "steps"),
    [
        ('{"steps": ["Read it.", " Weigh it. ", ""]}', ["Read it.", "Weigh it."]),
        ('```json\n{"steps": []}\n```', []),
        ('{"steps": "Read it."}', None),
        ('{"list": ["Read it."]}', None),
        ("1. Read it.\n2. Weigh it.", None),
        ('{"steps": [', None),
    ],
)
def test_steps_are_read_from_an_object_and_lines_are_left_as_they_are(
    reply: str, steps: list[str] | None
) -> None:
    assert read_steps(reply) == steps
