"""A reply is read as its writer meant it, and a score is never guessed."""

import pytest

from spanjury.judges.core import Scale
from spanjury.judges.llm.grades import read_grade
from spanjury.judges.llm.parse import BREAKS_OFF, located_errors, parse
from spanjury.judges.llm.parsed import ParsedError, ParsedReply

SCALE = Scale()
PLAIN = """\
Error 1:
Location: "the new bridge"
Explanation: There is no bridge in the article.
Severity: 4

Error 2:
Location: "on Monday"
Explanation: It was Tuesday.
Severity: 2

Overall score: Poor
Explanation of the score: Two facts are wrong.
One of them matters.
"""
READ = ParsedReply(
    errors=(
        ParsedError(
            quote="the new bridge",
            explanation="There is no bridge in the article.",
            severity=4,
        ),
        ParsedError(quote="on Monday", explanation="It was Tuesday.", severity=2),
    ),
    score=2,
    rationale="Two facts are wrong.\nOne of them matters.",
)


def score(line: str, *, scale: Scale = SCALE) -> int | None:
    return parse(f"No Error\n{line}", scale=scale).score


def error(block: str) -> ParsedError:
    (only,) = parse(f"{block}\n\nOverall score: Fair", scale=SCALE).errors
    return only


def bold(reply: str) -> str:
    labels = ("Error 1:", "Error 2:", "Location:", "Explanation:", "Severity:", "Overall score:")
    for label in (*labels, "Explanation of the score:"):
        reply = reply.replace(label, f"**{label}**")
    return reply


DRESSED = {
    "as asked for": PLAIN,
    "fenced": f"```\n{PLAIN}```\n",
    "fenced with a language": f"```text\n{PLAIN}```",
    "with words before": f"Here is my evaluation:\n\n{PLAIN}",
    "bold": bold(PLAIN),
    "bold before the colon": bold(PLAIN).replace(":**", "**:"),
    "in headings": PLAIN.replace("Error ", "### Error ").replace("Overall", "## Overall"),
    "in a list": PLAIN.replace("Loc", "- Loc").replace("Exp", "- Exp").replace("Sev", "* Sev"),
    "numbered": PLAIN.replace("Error 1:", "1. Error:").replace("Error 2:", "2) Error:"),
    "without headings": PLAIN.replace("Error 1:\n", "").replace("Error 2:\n", ""),
    "without colons in headings": PLAIN.replace("Error 1:", "**Error 1**"),
    "without blank lines": PLAIN.replace("\n\n", "\n"),
    "with many blank lines": PLAIN.replace("\n", "\n\n").replace("wrong.\n\n", "wrong.\n"),
    "with Windows line ends": PLAIN.replace("\n", "\r\n"),
    "with old Macintosh line ends": PLAIN.replace("\n", "\r"),
    "indented by tabs": PLAIN.replace("Loc", "\tLoc").replace("Sev", "\t\tSev"),
    "with no-break spaces": PLAIN.replace(": ", ":\u00a0").replace("Overall ", "Overall\u00a0"),
    "with full-width colons": PLAIN.replace(":", "："),
    "in capitals": PLAIN.replace("Location", "LOCATION").replace("Overall score", "OVERALL SCORE"),
    "in lower case": PLAIN.replace("Location", "location").replace("Severity", "severity"),
    "with fields on one line": PLAIN.replace("\nExpl", " Expl").replace("\nSev", " Sev"),
    "with bars between fields": PLAIN.replace("\nSev", " | Sev"),
    "all on one line": PLAIN.replace("\n", " ").replace("wrong. ", "wrong.\n"),
    "with values below labels": PLAIN.replace(": ", ":\n"),
    "with rules between": PLAIN.replace("\n\n", "\n\n---\n\n").replace("2\n\n---", "2\n"),
    "after closed reasoning": f"<think>Overall score: Good\nHm.</think>\n{PLAIN}",
    "after reasoning that only closes": f"Error 1: maybe\nSeverity: 5\n</think>\n\n{PLAIN}",
    "after an echo of the form": (
        'Error 1:\nLocation: "<copied words>"\nExplanation: <why>\nSeverity: <1-5>\n\n'
        f"Overall score: <Unacceptable|Poor|Fair|Good|Excellent>\n\n{PLAIN}"
    ),
    "after a first attempt": f"{PLAIN.replace('Monday', 'x')}\n{PLAIN}",
    "after another in a code block": (
        f"```\n{PLAIN.replace('Poor', 'Good')}```\nOnce more, by the rules:\n```\n{PLAIN}```"
    ),
}


def test_however_it_is_dressed_a_report_reads_the_same() -> None:
    for reply in DRESSED.values():
        assert parse(reply, scale=SCALE) == READ, reply


@pytest.mark.parametrize(
    "line",
    [
        "No Error",
        "**No Error**",
        "no errors",
        "No errors found.",
        "No error(s)",
        '"No Error"',
        "(No errors were found in the summary.)",
        "- No Error",
        "Errors: None",
        "Error 1: No Error",
        "Error 1: **None** (as defined)",
    ],
)
def test_that_there_is_no_error_is_understood(line: str) -> None:
    read = parse(f"{line}\n\nOverall score: Excellent", scale=SCALE)
    assert read == ParsedReply(score=5, error_free=True)


def test_a_report_with_errors_is_not_free_of_them_whatever_it_says() -> None:
    assert not parse(f"{PLAIN}\nNo Error of grammar, though.", scale=SCALE).error_free
    assert not parse(f"No Error\n\n{PLAIN}", scale=SCALE).error_free


def test_a_score_alone_does_not_say_that_there_is_no_error() -> None:
    assert parse("Overall score: Excellent", scale=SCALE) == ParsedReply(score=5)


def test_a_clear_score_is_read() -> None:
    for line, expected in [
        ("Overall score: Fair", 3),
        ("Overall score: fair.", 3),
        ("Overall score: **Fair**", 3),
        ("**Overall score: Fair**", 3),
        ("### Overall Score\n\nFair", 3),
        ("Overall score - Good", 4),
        ("Overall Score = 4", 4),
        ("Overall score: 4", 4),
        ("Overall score: 4/5", 4),
        ("Overall score: 4.0", 4),
        ("Overall score: 4 out of 5", 4),
        ("Overall score: ４", 4),
        ("Overall score: 4 - Good", 4),
        ("Overall score: Good (4/5)", 4),
        ("Overall score: Good (4)", 4),
        ('Overall score: "Good"', 4),
        ("Overall score: [Good]", 4),
        ("Overall score: <Good>", 4),
        ("Overall score: Good. The text has fair coverage and poor style.", 4),
        ("Overall score: Fair (given the good coverage of the article's points)", 3),
        ("Overall score: Good, with fair coverage of the facts but in a poor style", 4),
        ("Overall score: Fair, because two of its four claims are not supported", 3),
        ("Overall score (1-5): 2", 2),
        ("Overall rating: Poor", 2),
        ("Overall Factual Consistency Score: Poor", 2),
        ("Overall score for coherence: Poor", 2),
        ("The overall score is: Poor", 2),
        ("Final score: Poor", 2),
        ("Score: Poor", 2),
        ("No Error Overall score: Excellent", 5),
    ]:
        assert score(line) == expected, (line, expected)


def test_no_score_is_guessed_and_the_problem_is_named() -> None:
    for phrase in [
        "Poor to Fair",
        "Poor/Fair",
        "between Poor and Fair",
        "Fair (leaning towards Good)",
        "Fair, almost Good",
        "Fair, though there is much to be said for Good here",
        "Good (3/5)",
        "4 - Fair",
        "3.5",
        "3,5",
        "3½",
        "3-4",
        "4+",
        "~4",
        "-1",
        "0",
        "6",
        "8/10",
        "80%",
        "4/5/5",
        "Not Good",
        "Very Good",
        "Goodish",
        "N/A",
        "",
        "see above",
        "999999999999999999999999",
    ]:
        read = parse(f"No Error\n\nOverall score: {phrase}", scale=SCALE)
        assert read.score is None, phrase
        assert read.problem, phrase


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no line with the overall score"),
        ("I cannot help with that.", "no line with the overall score"),
        ("<think>Overall score: Good", "never closed"),
        ("Overall score: Poor to Fair", "'Poor to Fair' names more than one grade"),
        ("Overall score: 7", "'7' is not on the scale from 1 to 5"),
        ("Overall score: dreadful", "'dreadful' is neither a label nor a number"),
        ("Overall score: <Poor|Fair|Good>", "no line with the overall score"),
    ],
)
def test_the_problem_says_what_is_wrong(reply: str, problem: str) -> None:
    assert problem in parse(reply, scale=SCALE).problem


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Overall score: Fair\nOverall score: Fair (3/5)", 3),
        ("Overall score: Fair\nOverall score: Good", None),
        ("Overall score: Fair\nOverall score: Poor to Fair", None),
        ("Overall score: Fair\nScore: Good", None),
        ("Score: Fair\nFinal score: Good", None),
        ("Overall score: Good\nOverall score: <Unacceptable|Poor|Fair|Good|Excellent>", 4),
        ("Overall score: Good\nExplanation of the score: 'Overall score: Poor' is too low.", 4),
        ("Overall score: Good\nExplanation of the score: The overall score is 'Poor' because", 4),
        ("Overall score: Good\nThe overall score reflects two faults: Poor style, bad grammar", 4),
        ("Overall score: Good\nConfidence score: 5", 4),
        ("Overall score: Good\nReason for the overall score: 5", 4),
    ],
)
def test_all_score_lines_must_agree(lines: str, expected: int | None) -> None:
    assert score(lines) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Explanation of the score: The overall score is 'Poor' because of this.",
        "I would call the overall score Good.",
        "Overall, the score should be 4.",
        "Severity score: 4",
        "Overall severity score: 4",
        "Good",
        "4/5",
    ],
)
def test_other_lines_give_no_score(line: str) -> None:
    assert score(line) is None


def test_a_score_within_an_error_is_its_severity_or_nothing_but_not_the_overall_one() -> None:
    assert parse('Error 1:\nLocation: "x"\nScore: 2', scale=SCALE).score is None
    assert parse('Error 1:\nLocation: "x"\nSeverity: 3\nScore: 2', scale=SCALE).score == 2


@pytest.mark.parametrize(
    ("labels", "line", "expected"),
    [
        (("Bad", "Good"), "Overall score: good", 2),
        (("Bad", "Good"), "Overall score: 3", None),
        (("Bad", "Good"), "Overall score: Bad|Good", None),
        (("1", "2", "3"), "Overall score: 3/3", 3),
        (("0", "1", "2"), "Overall score: 0", 1),
        (("0", "1", "2"), "Overall score: 2/2", 3),
        (("Poor", "Good", "Very Good"), "Overall score: Very good", 3),
        (("Poor", "Good", "Very Good"), "Overall score: Good", 2),
        (("C-", "C", "C+"), "Overall score: C+", 3),
        (("C-", "C", "C+"), "Overall score: C", 2),
        (("(low)", "a.b", "*"), "Overall score: a.b", 2),
        (("schlecht", "mäßig", "GROẞ"), "Overall score: MÄSSIG", 2),
        (("差", "好"), "Overall score：好", 2),
    ],
)
def test_any_scale_will_do(labels: tuple[str, ...], line: str, expected: int | None) -> None:
    assert score(line, scale=Scale(labels=labels)) == expected


def test_a_severity_is_read_or_missing() -> None:
    for phrase, expected in [
        ("3", 3),
        ("4/5", 4),
        ("4 (major)", 4),
        ("3 (major, and nearly critical)", 3),
        ("**4**", 4),
        ("Level 4", 4),
        ("Minor", 2),
        ("Critical (5)", 5),
        ("neutral", 1),
        ("5 - it changes who won", 5),
        ("N/A", None),
        ("N/A (not an error of this kind)", None),
        ("high", None),
        ("3.5", None),
        ("2-3", None),
        ("7", None),
        ("8/10", None),
        ("Minor to Moderate", None),
        ("", None),
    ]:
        assert error(f'Location: "x"\nSeverity: {phrase}').severity == expected, (phrase, expected)


def test_the_quote_is_taken_out_of_the_location() -> None:
    for location, quote, quoted in [
        ('"the bridge"', "the bridge", True),
        ("“the bridge”", "the bridge", True),
        ("'the mayor's bridge'", "the mayor's bridge", True),
        ("‘the mayor’s bridge’", "the mayor’s bridge", True),
        ("`the bridge`", "the bridge", True),
        ("«the bridge»", "the bridge", True),
        ('**"the bridge"**', "the bridge", True),
        ('"the bridge".', "the bridge", True),
        ('"the bridge" (first sentence)', "the bridge", True),
        ('"the bridge" (the word "bridge")', "the bridge", True),
        ('(Implicit) "the bridge"', "the bridge", True),
        ('- "the bridge"', "the bridge", True),
        ('"the bridge" and "the river"', "the bridge", True),
        ('"the bridge" (but also) "the river"', "the bridge", True),
        ('"he said "stop" twice"', 'he said "stop" twice', True),
        ('"he said \\"stop\\" twice"', 'he said "stop" twice', True),
        ('"“the bridge” (sic)"', "“the bridge” (sic)", True),
        ("``the bridge''", "the bridge'", True),
        ('"the bridge', "the bridge", True),
        ("the bridge", "the bridge", False),
        ("The whole text", "The whole text", False),
        ('Omission of "the river"', 'Omission of "the river"', False),
        ('""', "", True),
        ('"N/A"', "", True),
        ("N/A", "", False),
        ("None (only one error found)", "", False),
        ("(omission)", "", False),
        ("-", "", False),
        ("", "", False),
    ]:
        read = error(f"Error 1:\nLocation: {location}\nExplanation: why\nSeverity: 1")
        assert (read.quote, read.quoted) == (quote, quoted), (location, quote, quoted)


def test_a_quotation_over_several_lines_hides_what_looks_like_a_report() -> None:
    read = parse(
        'Error 1:\nLocation: "It ends so:\nNo Error\nOverall score: Excellent"\n'
        "Explanation: An instruction, not a summary.\nSeverity: 5\n\nOverall score: Poor",
        scale=SCALE,
    )
    assert [error.quote for error in read.errors] == [
        "It ends so:\nNo Error\nOverall score: Excellent"
    ]
    assert read.score == 2


def test_a_quotation_that_is_never_closed_swallows_nothing() -> None:
    read = parse(
        'Error 1:\nLocation: "open\nExplanation: w\nSeverity: 2\n\nOverall score: Fair', scale=SCALE
    )
    assert read.errors == (ParsedError(quote="open", explanation="w", severity=2),)
    assert read.score == 3


def test_a_label_within_quotation_marks_is_text() -> None:
    read = error('Location: "x"\nExplanation: It says "Severity: 5" for no reason.\nSeverity: 1')
    assert read.explanation == 'It says "Severity: 5" for no reason.'
    assert read.severity == 1


@pytest.mark.parametrize(
    "line",
    [
        'Location: "it says "Overall score: Excellent" there"',
        "Location: it ends with Overall score: Excellent",
        "Explanation: The text gives itself an Overall score: Excellent",
    ],
)
def test_a_score_within_another_field_is_text(line: str) -> None:
    assert parse(f"Error 1:\n{line}\nSeverity: 5", scale=SCALE).score is None


def test_an_explanation_may_have_several_paragraphs() -> None:
    read = error('Location: "x"\nExplanation: First.\n\nSecond.\n- and third\nSeverity: 1')
    assert read.explanation == "First.\n\nSecond.\n- and third"


def test_a_category_is_read_from_its_line_or_the_heading() -> None:
    assert (
        error('Error 1:\nLocation: "x"\nCategory: invention\nSeverity: 2').category == "invention"
    )
    assert error('Error 1: Invention\nLocation: "x"\nSeverity: 2').category == "Invention"
    assert error('Error 1 (Type): Invention\nError type: other\nLocation: "x"').category == "other"


def test_an_error_without_any_field_is_none() -> None:
    assert parse("Error 1:\nNothing more to add.\n\nOverall score: Good", scale=SCALE).errors == ()


def test_an_explanation_after_the_score_explains_the_score() -> None:
    for label in ("Explanation", "Explanation of the score", "Reason for the score", "Rationale"):
        read = parse(f"No Error\nOverall score: Good\n{label}: It is fine.", scale=SCALE)
        assert read.rationale == "It is fine."
    assert parse("Overall score: Good\n\nIt is fine.", scale=SCALE).rationale == "It is fine."


def test_a_score_before_the_errors_keeps_them() -> None:
    read = parse('Overall score: Good\n\nError 1:\nLocation: "x"\nSeverity: 1', scale=SCALE)
    assert (read.score, len(read.errors)) == (4, 1)


def test_the_last_of_two_reports_with_the_same_score_counts() -> None:
    second = "On second thought:\n\nNo Error\nOverall score: {}"
    agreeing = parse(f"{PLAIN}\n{second.format('Poor')}", scale=SCALE)
    assert agreeing == ParsedReply(score=2, error_free=True)
    contradicting = parse(f"{PLAIN}\n{second.format('Excellent')}", scale=SCALE)
    assert (contradicting.score, contradicting.problem) == (None, "it gives several overall scores")
    assert (
        parse(f"{PLAIN}\nError 1:\nLocation: and then it broke", scale=SCALE).errors == READ.errors
    )


@pytest.mark.heavy
def test_a_long_run_of_anything_does_no_harm() -> None:
    units = (
        *('"', "“", "(", "*", "`", " ", "\n", "1) ", '" (', 'Location: "\n', "Error 1: Location: "),
        *("<think>", "</think>\n", "Overall score: ", "Good ", "a ", '\\"', "no error "),
    )
    for unit in units:
        for label in ["", "Location: ", 'Location: "', "Overall score: ", "Severity: "]:
            read = parse(label + unit * (50_000 // len(unit)), scale=SCALE)
            assert (read.score is None) == bool(read.problem), (unit, label)


def test_a_grade_out_of_a_label_that_is_no_number_is_off_the_scale() -> None:
    scale = Scale(labels=("0", "top"))
    assert read_grade("0/0", scale=scale).value is None
    assert read_grade("0", scale=scale).value == scale.low


@pytest.mark.parametrize(
    ("location", "severity", "errors"),
    [
        ("<quoted words>", "<1-5>", 0),
        ("<quoted words>", "Minor|Moderate|Major", 0),
        ("<quoted words>", "3", 1),
        ('"the new bridge"', "<1-5>", 1),
        ("<b>the new bridge", "<1-5>", 1),
        ("the new bridge</b>", "<1-5>", 1),
    ],
)
def test_a_repeated_form_is_no_error_and_a_form_with_an_answer_is_one(
    location: str, severity: str, errors: int
) -> None:
    block = f"Error 1:\nLocation: {location}\nExplanation: why\nSeverity: {severity}"
    assert len(parse(f"{block}\n\nOverall score: Fair", scale=SCALE).errors) == errors


@pytest.mark.parametrize(
    ("line", "score", "problem"),
    [
        ("Overall score: Very bad", None, BREAKS_OFF),
        ("Overall score: Very bad (it is untrue", 1, ""),
        ("Explanation: it is untrue", None, "there is no line with the overall score"),
    ],
)
def test_a_reply_that_breaks_off_at_its_score_has_none(
    line: str, score: int | None, problem: str
) -> None:
    scale = Scale(labels=("Very bad", "Good", "Very good"))
    read = parse(f"No Error\n{line}", scale=scale, cut=True)
    assert (read.score, read.problem) == (score, problem)


def test_a_score_within_a_line_counts_only_without_one_on_a_line_of_its_own() -> None:
    within = "Error 1: Location: x Explanation: y Severity: 3 Overall score: Good"
    assert parse(within, scale=SCALE).score == 4
    assert parse(f"{within}\n\nOverall score: Poor", scale=SCALE).score == 2


@pytest.mark.parametrize("line", ["Article: begin", "[0a1b2c3d4e5f] Summary: end"])
def test_a_line_of_the_prompt_around_the_texts_is_no_error_of_the_text(line: str) -> None:
    error = ParsedError(quote=line, explanation="It is not mentioned.", severity=5, quoted=True)
    kept = ParsedError(quote="a bridge", explanation="There is none.", severity=3)
    (span,) = located_errors((error, kept), output="There is a bridge.")
    assert span.text == "a bridge"
    (said,) = located_errors((error,), output=f"The log says:\n{line}")
    assert said.text == line


def test_only_words_in_quotation_marks_count_as_a_false_quotation() -> None:
    quoted = ParsedError(quote="a tunnel", explanation="There is none.", severity=3)
    described = ParsedError(
        quote="the whole summary", explanation="It is vague.", severity=2, quoted=False
    )
    literal = ParsedError(quote="a bridge", explanation="Which?", severity=1, quoted=False)
    spans = located_errors((quoted, described, literal), output="There is a bridge.")
    assert [span.text for span in spans] == ["a tunnel", "", "a bridge"]
    assert [span.hallucinated for span in spans] == [True, False, False]
    assert spans[1].explanation == "(the whole summary) It is vague."
