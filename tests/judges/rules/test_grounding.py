"""The grounding judge: what it marks, what it is worth, where it abstains."""

import math
import threading
from dataclasses import replace
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Aspect, Judge, Kind, Located, Outcome, Report, Scale, Segment, Task
from spanjury.judges.rules import grounding
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.judges.rules.source_index import SourceIndex, index_source, join_inputs
from spanjury.judges.rules.support import find_support
from spanjury.judges.text.turns import LONG

TASK = Task(name="summarization", description="Summarize the article.")
CONSISTENCY = Aspect(name="consistency", task=TASK, definition="…", kind="grounding")
ARTICLE = (
    "Acme sold 1,200 cars in April 2018. Chief executive John Doe spoke to investors on Monday. "
    "The board was pleased with the growth in Paris, where a new plant will open."
)
BOARD = "The board was pleased with the growth in Paris, where a new plant will open."
WORDS = (
    *("Acme", "sold", "1,200", "twelve", "hundred", "cars", "in", "April"),
    *(".", ",", "the", "of", "Doe", "\n", "\ud800", "\u00e9"),
)


def segment(output: str, source: str = ARTICLE) -> Segment:
    return Segment(segment_id="1", output=output, inputs={"Article": source})


async def judged(output: str, source: str = ARTICLE) -> Report:
    return await GroundingJudge().assess(segment(output, source), CONSISTENCY)


def compared(output: str, source: str) -> Report:
    return GroundingJudge()._compare(output, join_inputs({"Article": source}), aspect=CONSISTENCY)


def test_it_is_a_judge_with_a_signature() -> None:
    assert isinstance(GroundingJudge(), Judge)
    assert GroundingJudge(max_spans=3).signature.startswith("grounding|max_spans:3|rules:")


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        GroundingJudge(max_spans=-1)


@pytest.mark.parametrize(
    ("output", "quote", "severity", "category", "explanation", "evidence"),
    [
        (
            "Acme sold 1,300 cars.",
            "1,300",
            4,
            "contradicted number",
            "The source says '1,200'.",
            ["Acme sold 1,200 cars in April 2018."],
        ),
        (
            "Acme sold cars in April 2019.",
            "2019",
            4,
            "contradicted date",
            "The source says '2018'.",
            ["sold 1,200 cars in April 2018."],
        ),
        (
            "John Doe spoke on Tuesday.",
            "Tuesday",
            4,
            "unsupported date",
            '"Tuesday" does not occur in the source, which mentions "Monday".',
            ["Monday"],
        ),
        (
            "Acme sold cars in April and March.",
            "March",
            4,
            "unsupported date",
            '"March" does not occur in the source, which mentions "April".',
            ["April"],
        ),
        (
            "Chief executive Jane Roe spoke.",
            "Jane Roe",
            3,
            "unsupported name",
            'The name "Jane Roe" does not occur in the source.',
            ["Chief executive John Doe spoke to investors on Monday."],
        ),
        (
            "Chief executive Simon Doe spoke.",
            "Simon Doe",
            4,
            "unsupported name",
            'The source says "John Doe", not "Simon Doe".',
            ["John Doe"],
        ),
        (
            "The board met in Pariss.",
            "Pariss",
            3,
            "unsupported name",
            'The name "Pariss" does not occur in the source; the most similar is "Paris".',
            ["Paris"],
        ),
        (
            "chief executive simon spoke.",
            "simon",
            3,
            "unsupported name",
            'The name "simon" does not occur in the source.',
            ["Chief executive John Doe spoke to investors on Monday."],
        ),
        (
            "The board was pleased with three cars.",
            "three",
            3,
            "unsupported number",
            'The number "three" does not occur in the source.',
            [],
        ),
        (
            "The board was pleased with 7 purple penguins in Paris.",
            "7 purple penguins",
            4,
            "unsupported wording",
            'None of these occurs in the source: "7", "purple", "penguins".',
            [BOARD],
        ),
    ],
)
async def test_unsupported_words_are_marked_with_the_evidence(
    output: str, quote: str, severity: int, category: str, explanation: str, evidence: list[str]
) -> None:
    (span,) = (await judged(output)).spans
    assert (span.text, span.severity, span.category) == (quote, severity, category)
    assert span.explanation == explanation
    assert (span.start, span.end) == (output.index(quote), output.index(quote) + len(quote))
    assert span.located is Located.EXACT
    assert span.probability is not None
    assert [piece.text for piece in span.evidence] == evidence
    for piece in span.evidence:
        assert (piece.input, ARTICLE[piece.start : piece.end]) == ("Article", piece.text)


async def test_evidence_lies_in_the_input_that_holds_it() -> None:
    inputs = {"News": "It rained. Acme sold 12 cars.", "Report": "In all, 1,200 people came."}
    both = Segment(
        segment_id="1", output="Of the people who came to Acme, 1,350 were late.", inputs=inputs
    )
    (span,) = (await GroundingJudge().assess(both, CONSISTENCY)).spans
    (piece,) = span.evidence
    assert (piece.input, piece.start, piece.text) == ("Report", 8, "1,200")
    assert inputs["Report"][piece.start : piece.end] == "1,200"


async def test_a_sentence_of_strange_words_is_one_error() -> None:
    output = "Acme sold 1,200 cars. Penguins danced wildly beneath purple lamps."
    (span,) = (await judged(output)).spans
    assert (span.text, span.severity) == ("Penguins danced wildly beneath purple lamps", 3)
    assert span.explanation == (
        "The source contains none of the 6 names, numbers and content words of this sentence."
    )


@pytest.mark.parametrize(
    "output",
    [
        "Acme sold twelve hundred cars.",
        "Acme sold 1200 cars in april 2018.",
        "Acme sold nearly 1,250 cars.",
        "Selling cars pleases the board.",
        "Investors are in Paris, where the plant opens.",
        "The board was disappointed with the growth in Paris.",
        "The board sold 1,200 cars.",
        "Chief executive Doe's plant will open.",
        "Yes. Eventually, the board opened a factory.",
        "# Acme Sold Many Cars\n\n1. Acme sold cars [2].\n2. See https://acme.com/2031/7\n",
        "ACME SOLD SPLENDID CARS IN PARIS.",
    ],
)
async def test_other_words_and_marks_are_no_error(output: str) -> None:
    assert (await judged(output)).spans == ()


async def test_a_hedge_excuses_a_near_number_only() -> None:
    assert (await judged("Acme sold 1,250 cars.")).spans
    assert (await judged("Acme sold nearly 2,250 cars.")).spans


async def test_the_score_is_the_documented_formula() -> None:
    # Claims: Acme, sold, cars (weight 1 each; Acme begins the sentence) and 1,300 (2).
    # Trigrams "acme sold 1300", "sold 1300 cars": 0 of 2. Content pairs: "acme sold" of 3;
    # "sold 1300", "1300 cars" are not in the source. Content triples: 0 of 2.
    support = find_support("Acme sold 1,300 cars.", index_source(ARTICLE))
    assert support.supported == pytest.approx(3 / 5)
    assert support.joined == pytest.approx((0 + 1 / 3 + 0) / 3)
    # Two fifths of the claims are not known, and one number is contradicted.
    log_odds = 0.32 + 0.5 * 2 / 5 - 2.1 * (1 / 9) ** 3
    right = (1 - 0.95) * (1 - 1 / (1 + math.exp(-log_odds)))
    report = await judged("Acme sold 1,300 cars.")
    assert report.error_probability is not None
    assert report.error_probability == pytest.approx(1 - right)
    assert report.score == 5 - 4 * report.error_probability


async def test_odds_are_divided_by_the_judges_own_and_multiplied_by_the_others() -> None:
    judge, text = GroundingJudge(), "Acme sold 1,300 cars."
    own = await judged(text)
    assert own.error_probability is not None
    (span,) = own.spans
    assert span.probability is not None
    other = replace(span, severity=2, probability=None)
    # Severity 4 counts .8 of the span's probability, severity 2 .4 of one of .5.
    odds = (1 / own.error_probability - 1) / (1 - 0.8 * span.probability) * (1 - 0.4 * 0.5)
    for spans, expected in (((other,), 1 / (1 + odds)), ((span,), own.error_probability)):
        again = (await judge.rescore(segment(text), CONSISTENCY, spans)).report
        assert again.error_probability is not None
        assert again.error_probability == pytest.approx(expected)
        assert (again.score, again.spans) == (5 - 4 * again.error_probability, spans)


async def test_sentences_of_which_the_source_lacks_much_are_unverified() -> None:
    text = "Acme sold 1,200 cars. Growth cheered its weary board."
    report = await judged(text)
    (sentence,) = report.unverified
    assert sentence.text == "Growth cheered its weary board"
    assert text[sentence.start : sentence.end] == sentence.text
    assert sentence.words == ("cheered", "weary")
    assert sentence.reason == "2 of its 4 content words do not occur in the source."
    assert sentence.probability > 0.4


async def test_a_sentence_that_the_source_only_reports_is_unverified_and_binds_a_panel() -> None:
    report = await judged(
        "The minister took bribes.", "The report alleges that the minister took bribes."
    )
    (sentence,) = report.unverified
    assert (sentence.text, sentence.reason, sentence.is_binding) == (
        "The minister took bribes.",
        "The source attributes this to someone ('alleges') and does not state it as fact.",
        True,
    )
    assert sentence.probability == 0.4
    assert not report.spans


async def test_data_may_be_joined_from_several_records() -> None:
    rows = '{"ferry": {"leaves": "Lund"}, "bus": {"leaves": "Malmo"}}'
    assert not any(part.is_binding for part in (await judged("Ferry: Malmo.", rows)).unverified)


@pytest.mark.parametrize(
    ("source", "number", "is_known"),
    [
        ("Two thirds of the 1,200 residents voted.", "800", True),
        ("Half of the 1,200 residents voted.", "600", True),
        ("A third of the 1,000 residents voted.", "333", True),
        ("Two thirds of the 1,200 residents voted.", "900", False),
        ("Two thirds voted. " + "The hall is old. " * 9 + "It has 1,200 seats.", "800", False),
    ],
)
async def test_a_fraction_of_a_number_beside_it_is_known(
    source: str, number: str, *, is_known: bool
) -> None:
    report = await judged(f"{number} residents voted.", source)
    assert (not report.spans) is is_known


async def test_a_missing_word_is_named_and_counted_once() -> None:
    report = await judged("People cheered and people danced at Acme.", "Acme sold cars.")
    (sentence,) = report.unverified
    assert sentence.words == ("People", "cheered", "danced")
    assert sentence.reason == "3 of its 4 content words do not occur in the source."


async def test_the_probability_of_an_error_rises_with_what_is_unsupported() -> None:
    probabilities = [
        (await judged(output)).error_probability or 0.0
        for output in (
            "Acme sold 1,200 cars in April 2018.",
            "Acme got rid of 1,200 vehicles.",
            "Acme got rid of 1,300 vehicles.",
            "Acme got rid of 1,300 vehicles in Rome.",
        )
    ]
    assert probabilities == sorted(probabilities)
    assert probabilities[0] == 0.05  # that of near copies
    assert probabilities[-1] > 0.8


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("A night in the hut costs 12.", "The hut costs 4 a night, with breakfast 3."),
        ("Children of 13 may swim.", "Children under 14 swim on Mondays."),
        ("The museum opens at 9, not at 8.", "The museum opens at 9."),
        ("The museum doesn't open at 8 but at 9.", "The museum opens at 9."),
        ("The museum has been open for 44 years.", "The museum has been open since 1979."),
    ],
)
async def test_a_number_that_may_follow_from_the_source_is_no_grave_error(
    output: str, source: str
) -> None:
    (span,) = (await judged(output, source)).spans
    assert (span.category, span.severity) == ("unsupported number", 3)


async def test_the_score_lies_on_the_scale_of_the_aspect() -> None:
    binary = replace(CONSISTENCY, scale=Scale(labels=("no", "yes")))
    report = await GroundingJudge().assess(segment(ARTICLE), binary)
    assert report.error_probability is not None
    assert report.score == 2 - report.error_probability


async def test_only_the_gravest_spans_are_kept_in_order_of_place() -> None:
    output = "Acme proudly sold 7 cars in Rome. The board was utterly pleased in June."
    report = await GroundingJudge(max_spans=3).assess(segment(output), CONSISTENCY)
    assert [span.text for span in report.spans] == ["7", "Rome", "June"]
    every = await GroundingJudge().assess(segment(output), CONSISTENCY)
    assert report.score == every.score


async def test_data_supports_names_and_numbers_and_leaves_the_wording_free() -> None:
    data = "name[The Eagle], food[Japanese], priceRange[less than £20], near[Burger King]"
    fine = await judged("The Eagle serves lovely Japanese dishes beside Burger King.", data)
    wrong = await judged("The Eagle serves lovely Italian dishes for £30.", data)
    assert (fine.spans, [span.text for span in wrong.spans]) == ((), ["Italian", "30"])
    assert fine.score is not None
    assert wrong.score is not None
    assert wrong.score < fine.score
    assert "The source is data" in fine.rationale


@pytest.mark.parametrize("output", ["", " \n", "…!?"])
async def test_a_text_without_words_is_an_error_without_a_place(output: str) -> None:
    report = await judged(output)
    (span,) = report.spans
    assert (span.category, span.severity, span.interval) == ("empty output", 5, None)
    assert report.error_probability == 0.98


async def test_invisible_characters_hide_no_word_and_move_no_span() -> None:
    article = ARTICLE.replace("1,200", "1,\u200b200").replace("board", "bo\u00adard")
    right = await judged("Ac\u2060me sold 1,200 ca\u200brs. The board was ple\ufeffased.", article)
    assert right == await judged("Acme sold 1,200 cars. The board was pleased.")
    output = "Ac\u2060me sold 1,\u200b300 cars in May\u200b."
    wrong = await judged(output, article)
    assert wrong.spans[0].text == "1,\u200b300"
    for span in wrong.spans:
        assert output[slice(*span.interval or ())] == span.text
        for passage in span.evidence:
            assert article[passage.start : passage.end] == passage.text


@pytest.mark.parametrize("kind", ["grounding", "content"])
@pytest.mark.parametrize(
    ("output", "category"),
    [
        (" I can’t help with that.\n", "refusal"),
        ("I'm sorry, but I cannot assist with this request.", "refusal"),
        ("As an AI language model, I am not able to summarise the article.", "refusal"),
        ("did Acme sell 1200 cars", "repeats the question"),
    ],
)
async def test_an_unresponsive_output_is_one_error(output: str, category: str, kind: Kind) -> None:
    asked = replace(segment(output), inputs={"Article": ARTICLE, "Q": "Did Acme sell 1,200 cars?"})
    report = await GroundingJudge().assess(asked, replace(CONSISTENCY, kind=kind))
    (span,) = report.spans
    assert (span.category, span.text) == (category, output.strip())
    assert report.score is not None
    assert report.score == pytest.approx(1.08)
    again = await GroundingJudge().rescore(asked, replace(CONSISTENCY, kind=kind), ())
    assert again.report.score is not None
    assert again.report.score > report.score


async def test_it_abstains_on_aspects_of_other_kinds() -> None:
    report = await GroundingJudge().assess(segment("Text."), replace(CONSISTENCY, kind="form"))
    assert report.outcome is Outcome.ABSTAINED
    assert "consistency" in report.reason


@pytest.mark.parametrize(
    ("output", "source", "reason"),
    [
        ("Text.", "", "no input"),
        ("Ein Text.", "Это текст.", "Latin script and the input in Cyrillic"),
        ("这是文本", "这是文本", "no spaces"),
        (
            "The dog and the cat of the house went with that man.",
            "Der Hund und die Katze sind nicht mit den Kindern in das Haus gegangen.",
            "the input is German and the output English",
        ),
        ("Die Stadt hat am Montag der Fabrik zugestimmt.", ARTICLE, "the output German"),
        ("Kaupunki hyväksyi uuden tehtaan.", ARTICLE, "English and the output unknown"),
        ("Npzr fbyq pnef va Ncevy.", ARTICLE, "English and the output unknown"),
        ("QWNtZSBzb2xkIDEsMjAwIGNhcnMgaW4gQXByaWwu", ARTICLE, "is a code"),
        ("41 63 6d 65 20 73 6f 6c 64 20 63 61 72 73", ARTICLE, "is a code"),
        ("&#65;&#99;&#109;&#101; &#115;&#111;&#108;&#100;", ARTICLE, "as in HTML"),
    ],
)
async def test_it_abstains_from_incomparable_words(output: str, source: str, reason: str) -> None:
    report = await judged(output, source)
    assert report.outcome is Outcome.ABSTAINED
    assert reason in report.reason


async def test_it_looks_only_at_the_inputs_of_the_aspect() -> None:
    task = Task(name="qa", description="…", input_headers={"Question": (), "Context": ()})
    aspect = replace(CONSISTENCY, task=task, inputs=("Context",))
    asked = Segment(
        segment_id="1", output="It is 42.", inputs={"Question": "Is it 42?", "Context": "It is 41."}
    )
    (span,) = (await GroundingJudge().assess(asked, aspect)).spans
    assert span.text == "42"


async def test_long_sources_are_read_outside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def index(text: str) -> SourceIndex:
        threads.append(threading.get_ident())
        return index_source(text)

    monkeypatch.setattr(grounding, "index_source", index)
    await judged("Acme sold 1,300 cars.")
    await judged("Acme sold 1,300 cars.", source=ARTICLE * (4 * LONG // len(ARTICLE) + 1))
    assert threads[0] == threading.get_ident()
    assert threads[1] != threading.get_ident()


PROSE = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
TEXT = st.text(max_size=80) | PROSE


@given(TEXT, TEXT)
def test_any_texts_are_judged_within_the_scale(output: str, source: str) -> None:
    report = compared(output, source)
    if report.score is None:
        assert report.outcome is Outcome.ABSTAINED
        return
    assert report.score in CONSISTENCY.scale
    assert report.score == 5 - 4 * (report.error_probability or 0.0)
    assert len(report.spans) <= 8
    starts = [span.start or 0 for span in report.spans]
    assert starts == sorted(starts)
    for span in report.spans:
        assert output[span.start : span.end] == span.text


@given(TEXT)
def test_a_copy_has_no_error_and_of_prose_hardly_any_probability_of_one(text: str) -> None:
    report = compared(text, text)
    assert (report.spans, report.unverified) == ((), ())
    # Of data nothing but names and numbers is compared: 1 / (1 + exp(-.32)).
    most = 0.5794 if "The source is data" in report.rationale else 0.15
    assert (report.error_probability or 0.0) < most


# Not of any text: in a jumble of letters and digits more text can change what is a name.
@given(PROSE, PROSE)
def test_a_made_up_number_never_raises_the_score(output: str, source: str) -> None:
    before = compared(f"{output}\n\nIt was.", source)
    after = compared(f"{output}\n\nIt was 98765.", source)
    if before.score is not None and after.score is not None:
        assert after.score <= before.score or math.isclose(after.score, before.score)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "text",
    [
        "word " * 100_000,
        "a" * 400_000,
        "[=[.,!?;:'\"-]" * 30_000,
        "1" * 400_000,
        "a [b = " * 60_000,
    ],
    ids=["one word", "no spaces", "marks", "digits", "keys"],
)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(text: str) -> None:
    begun = process_time()
    assert compared(text, text).outcome in {Outcome.SCORED, Outcome.ABSTAINED}
    assert process_time() - begun < 60


def test_evidence_ends_with_the_input_that_it_begins_in() -> None:
    evidence = join_inputs({"A": "Ann left.", "B": "” said Bob."}).evidence(4, 12)
    assert (evidence.input, evidence.start, evidence.end) == ("A", 4, 9)
    assert evidence.text == "left."


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("He is 34 in 2024.", "He was born in 1990."),
        ("He is 33 in 2024.", "He was born on 3 May 1990 in Lund."),
        ("The firm was 4 years old in 1954.", "The firm was founded in 1950."),
        ("It ends on 31 March 2024.", "It begins on 1 April 2022 and runs for two years."),
    ],
)
def test_an_age_and_a_last_day_follow_from_the_first_date(output: str, source: str) -> None:
    assert compared(output, source).spans == ()


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("He is 37 in 2024.", "He was born in 1990."),
        ("He won 34 medals in 2024.", "He was born in 1990."),
        ("He is 34 in 2024.", "He came to Lund in 1990."),
    ],
)
def test_another_number_in_a_year_does_not_follow(output: str, source: str) -> None:
    assert compared(output, source).spans != ()


def test_the_rationale_names_the_sentence_to_check_first() -> None:
    output = "The board was pleased with the growth. In Paris a plant will open, new."
    rationale = compared(output, BOARD).rationale
    assert "Check 'In Paris a plant will open, new' first: the source contains" in rationale
    assert "Check" not in compared(BOARD, BOARD).rationale


@pytest.mark.parametrize(
    ("output", "source", "marked"),
    [
        ("It is closed on 3 May.", "It will be closed on 3 March.", ["3 May"]),
        ("It opens in May.", "It opens in June.", ["May"]),
        ("What You May Need: a lamp.", "What you can need: a lamp.", []),
    ],
)
def test_may_is_a_month_beside_a_day_or_a_preposition(
    output: str, source: str, marked: list[str]
) -> None:
    assert [span.text for span in compared(output, source).spans or ()] == marked


def test_a_sentence_introduced_as_in_the_source_is_not_doubted() -> None:
    source = "According to the policy, gift cards cannot be returned. Shoes can be exchanged."
    copy = "According to the policy, gift cards cannot be returned."
    assert compared(copy, source).unverified == ()
    assert compared(copy.replace("policy", "manual"), source).unverified
