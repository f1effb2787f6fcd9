"""A judge of whether the inputs support a text; it counts words, and uses no model."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import ClassVar

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Located,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    Unverified,
    abstention,
    counted,
    not_about,
    score_of_probability,
    signature,
    still_unverified,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.passages import passages_in
from spanjury.judges.rules.alignment.contexts import context_doubts
from spanjury.judges.rules.alignment.contradiction import quoted
from spanjury.judges.rules.alignment.contradictions import contradictions
from spanjury.judges.rules.alignment.corrections import correction_doubts
from spanjury.judges.rules.alignment.doubts import doubts
from spanjury.judges.rules.alignment.near_copies import are_near_copies
from spanjury.judges.rules.alignment.questions import (
    absence_doubt,
    opening_doubts,
    polar_doubts,
    question_doubts,
)
from spanjury.judges.rules.call_checks.arithmetic import computed_in, is_given
from spanjury.judges.rules.claims import Claim
from spanjury.judges.rules.evidence import CONTRADICTIONS, WORDING, error_spans
from spanjury.judges.rules.source_index import Source, index_source, join_inputs
from spanjury.judges.rules.support import SentenceSupport, Support, find_support, of_sentences
from spanjury.judges.text.invisible import without_invisible
from spanjury.judges.text.languages import (
    NO_BLANKS,
    SAMPLE,
    different_languages,
    script,
    unlike_languages,
)
from spanjury.judges.text.non_answers import EMPTY, NonAnswer, coded, non_answer
from spanjury.judges.text.replies import by_reply, rescored
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.speakers import spoken
from spanjury.judges.text.spellings import Respelled, spellings_of
from spanjury.judges.text.turns import in_turn
from spanjury.judges.text.without_claims import absences, blanked, without_marks
from spanjury.judges.text.words import each_once, folded_words

_QUICKER = 4  # the source is read this many times as fast as the output

_FOREIGN = 0.5  # share of supported claims below which the languages are compared

_ANSWERED = frozenset(("grounding", "content"))
"""Kinds of aspects for which an output that answers nothing has an error."""

_CERTAIN = 0.98
"""Probability of an error in an output that answers nothing."""

# A logistic regression, fitted to 3,343 summaries checked by people: the files train_cliff,
# train_xsumfaith, train_diasumfact and train_summedits_* of SummEdits, CLIFF, XSum hallucination
# annotations and DiaSumFact, each weighted by the square root of its size, with a ridge of 0.001.
# From the lowest to the highest of six bins, 18 % to 96 % of the summaries have an error, and the
# regression predicts 21 % to 96 %. No text of QAGS or SummEval was used.
_EXACT = 1.49  # per reported number, date or name, at most 3

_WORDING = 0.98  # per reported run of words, at most 2

_UNKNOWN = 0.50  # for the share of claims that the source lacks

_JOINED = -2.10  # for the share of word sequences that the source has, cubed

_DOUBTFUL = 0.30  # per name that the source has in part, at most 3

_CONSTANT = 0.32

_MOST_EXACT, _MOST_WORDING, _MOST_DOUBTFUL = 3, 2, 3

_POWER = 3

_NEAR_COPY = 0.05
"""Probability of an error in a text that nearly repeats its source (`near_copies`).

In 13 data sets, 4 of them with twins, 20 % of the right texts and 1 % of the wrong ones are near
copies, with equal weight for each set."""

_UNVERIFIED = 0.3  # share of missing claims from which a sentence cannot be vouched for

_WORDS = 12  # maximum words of a sentence that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingJudge:
    """Mark the numbers, dates, names and words of a text that its inputs do not support.

    It judges aspects of the kind ``"grounding"``. It abstains on others, without an input that the
    aspect may read, and if words cannot be compared: in scripts without spaces, or if output and
    inputs differ in script or language. It knows English function words and endings; in other
    languages it treats more words as different.

    Only errors that are surely unsupported are reported: a category only if people also marked at
    least half of what it marks (`spanjury.judges.rules.evidence`). Less certain signs, such as
    paraphrases, or words of the source in another order, only affect the score.

    The score follows from the probability of an error
    (`spanjury.judges.core.score_of_probability`); for another error list, that probability is
    adjusted (`spanjury.judges.core.probability_with`). `max_spans`, 0 or more, limits the spans of
    the report; the probability counts all.

    Sentences with many claims missing from the source are listed as unverified. So are those that
    join words of different sentences or clauses of the source, stand in another context than there,
    omit words that limit the others, repeat what it corrects or gives another value elsewhere, or
    assert what it only reports, denies or makes conditional.
    All but the first bind the panel, whose probability is at least theirs, but do not change the
    probability of this judge.

    Texts are compared without their invisible characters, such as zero-width spaces.

    An empty output, a refusal and an output that only repeats a question are errors of their own
    category, also for aspects of the kind ``"content"``. A coded text is not judged.
    """

    blind_spots: ClassVar[str] = (
        "errors of meaning: reworded errors, and errors that recombine words of the input in a "
        "new sentence"
    )

    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.max_spans < 0:
            raise ValueError(f"max_spans must not be negative, got {self.max_spans!r}")

    @property
    def signature(self) -> str:
        """The options and the rules."""
        return signature("grounding", max_spans=self.max_spans, rules=code_digest(__name__))

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Compare the output, or each reply of an agent, with the inputs that `aspect` may read."""
        if segment.trajectory is None:
            return await self._read(segment, aspect)
        return await by_reply(segment, aspect, self._look_at_reply, max_spans=self.max_spans)

    async def _look_at_reply(self, reply: Segment, aspect: Aspect) -> Report:
        """Judge a reply of an agent with its inputs and the numbers that follow from them.

        Such a number is never a contradiction: results have many numbers of one kind, and words
        do not tell which of them a reply is about.
        """
        sources = tuple(reply.inputs.values())
        computed = computed_in(reply.output, sources)
        inputs = {**reply.inputs, **({"Computed": computed} if computed else {})}
        report = await self._read(replace(reply, inputs=inputs), aspect, is_reply=True)
        spans = [
            span
            for span in report.spans
            if span.category != "contradicted number" or not is_given(span.text, sources)
        ]
        return report if len(spans) == len(report.spans) else rescored(report, spans, aspect.scale)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score for `spans` instead of the reported errors."""
        report = rescored(await self.assess(segment, aspect), spans, aspect.scale)
        return Rescoring(report=report, method=RescoringMethod.COMPUTED)

    async def _read(self, segment: Segment, aspect: Aspect, *, is_reply: bool = False) -> Report:
        look = partial(self._look, aspect=aspect, is_reply=is_reply)
        return await without_invisible(segment, look)

    async def _look(self, segment: Segment, *, aspect: Aspect, is_reply: bool) -> Report:
        inputs = aspect.view(segment.inputs)
        is_whole, nothing = segment.before is None, None  # a single sentence need not be an answer
        if aspect.kind in _ANSWERED and (is_whole or not segment.output.strip()):
            nothing = non_answer(segment.output, inputs)
        if nothing is not None:
            return self._answerless(nothing, segment.output, aspect=aspect)
        if aspect.kind != "grounding":
            return not_about(aspect, "what the inputs support")
        source = join_inputs(inputs)
        if not source.text.strip():
            return abstention("there is no input to compare with")
        compare = partial(
            self._compare,
            segment.output,
            source,
            questions=inputs.keys() - aspect.evidence(segment.inputs).keys(),
            aspect=aspect,
            is_reply=is_reply,
        )
        # The length of an output alone that would take as long as both texts.
        length = len(segment.output) + len(source.text) // _QUICKER
        return await in_turn(compare, length=length)

    def _compare(
        self,
        output: str,
        source: Source,
        *,
        questions: Collection[str] = (),
        aspect: Aspect,
        is_reply: bool = False,
    ) -> Report:
        """Score `output` by its errors.

        The inputs called `questions` neither support nor contradict, but their words are not made
        up. The reply of an agent may join statements of different turns and results.
        """
        asked = [source.inputs[header] for header in questions]
        evidence = {name: text for name, text in source.inputs.items() if name not in questions}
        obstacle = coded(output) or _different_scripts(output, source.text)
        if obstacle := obstacle or _foreign_passage(output, source):
            return abstention(obstacle)
        lacking = absences(output) if asked else []
        claimed = blanked(without_marks(output, evidence), lacking)
        support = find_support(claimed, index_source(source.text))
        is_foreign = support.supported < _FOREIGN
        if is_foreign and (languages := unlike_languages(source.text, output)):
            return abstention(_other_language(languages))
        reported, rest = error_spans(
            output,
            support,
            source=source,
            limit=self.max_spans,
            contradictions=contradictions(claimed, evidence),
        )
        errors = (*reported, *rest)
        probability = error_probability(support, errors)
        spelled, readings = Respelled(claimed, spellings_of(evidence.values())), _readings(evidence)
        all_known = support.supported == 1.0 and not errors
        if all_known and any(are_near_copies(spelled.text, inputs) for inputs in readings):
            probability = min(probability, _NEAR_COPY)
        is_compared = support.prose and not is_reply
        doubtful = [
            *(_doubts(output, spelled, readings) if is_compared else ()),
            *question_doubts(claimed, evidence, asked),
            *opening_doubts(output, asked),
            *polar_doubts(output, evidence, asked),
            *(absence_doubt(output, interval) for interval in lacking),
        ]
        return _scored(
            probability,
            reported,
            rationale=_rationale(output, support, errors),
            unverified=still_unverified([doubtful, [*_unverified_sentences(output, support)]], ()),
            aspect=aspect,
        )

    def _answerless(self, answer: NonAnswer, output: str, *, aspect: Aspect) -> Report:
        """Report an output that answers nothing, as one error."""
        start = len(output) - len(output.lstrip())
        text = output.strip() if answer.category != EMPTY else ""
        error = ErrorSpan(
            text=text,
            explanation=answer.explanation,
            severity=answer.severity,
            start=start if text else None,
            end=start + len(text) if text else None,
            category=answer.category,
            located=Located.EXACT if text else Located.UNLOCATED,
            probability=_CERTAIN,
        )
        reported = (error,)[: self.max_spans]
        return _scored(_CERTAIN, reported, rationale=answer.explanation, aspect=aspect)


def _scored(
    probability: float,
    spans: tuple[ErrorSpan, ...],
    *,
    rationale: str,
    aspect: Aspect,
    unverified: tuple[Unverified, ...] = (),
) -> Report:
    return Report(
        score=score_of_probability(probability, aspect.scale),
        spans=spans,
        rationale=rationale,
        error_probability=probability,
        unverified=unverified,
    )


def _different_scripts(output: str, source: str) -> str:
    """Return why the words of two texts cannot be compared because of their scripts, or empty."""
    written, given = script(output), script(source)
    if written in NO_BLANKS:
        return f"the output is in {written}, which has no spaces between words"
    if written and given and written != given:
        return f"the output is in {written} script and the input in {given}"
    return ""


def _foreign_passage(output: str, source: Source) -> str:
    """Return why a passage, which may have what the others lack, cannot be compared, or empty."""
    written = folded_words(output[:SAMPLE])
    for name, text in passages_in(source.inputs).items():
        languages = different_languages(folded_words(text[:SAMPLE]), written)
        if obstacle := _different_scripts(output, text) or _other_language(languages):
            return obstacle.replace("the input", name, 1)
    return ""


def _other_language(languages: tuple[str, str] | None) -> str:
    """Return why texts in these languages cannot be compared, or empty if they are alike."""
    return f"the input is {languages[0]} and the output {languages[1]}" if languages else ""


def _rationale(text: str, support: Support, spans: Sequence[ErrorSpan]) -> str:
    if not support.sentences:
        return "The text has no words that need support from the source."
    errors = (
        f"{counted(len(spans), 'unsupported passage')}." if spans else "No unsupported passage."
    )
    share = (
        f"The source supports {support.supported:.0%} of the content"
        " (numbers, dates and names count twice)"
    )
    if support.joined is None:
        return f"{errors} {share}. The source is data, so other words have little weight."
    joined = f"and contains {support.joined:.0%} of the word sequences"
    return f"{errors} {share} {joined}.{_least_joined(text, support)}"


def _least_joined(text: str, support: Support) -> str:
    """Name the sentence to check first: the source has the fewest of its word sequences."""
    shares = [
        (of_sentences([sentence], prose=True).joined or 0.0, sentence.words)
        for sentence in support.sentences
        if sentence.claims
    ]
    share, words = min(shares, key=itemgetter(0), default=(1.0, ()))
    if share >= 1.0:
        return ""
    quote = quoted(text[words[0].start : words[-1].end])
    return f" Check '{quote}' first: the source contains {share:.0%} of its word sequences."


def error_probability(support: Support, spans: Sequence[ErrorSpan]) -> float:
    """Return the probability, 0 to 1, that a text with `support` and errors `spans` has an error.

    It is calibrated for texts like those it was fitted to, 63 % of which have an error.
    Contradictions, which are rare in those texts, count with their own probability.
    """
    if not support.sentences and not spans:
        return 0.0
    categories = frozenset(CONTRADICTIONS.values())
    against = [span for span in spans if span.category in categories]
    spans = [span for span in spans if span.category not in categories]
    wording = sum(span.category == WORDING for span in spans)
    doubtful = sum(
        not claim.supported and not claim.sure
        for sentence in support.sentences
        for claim in sentence.claims
    )
    total = (
        _CONSTANT
        + _EXACT * min(_MOST_EXACT, len(spans) - wording)
        + _WORDING * min(_MOST_WORDING, wording)
        + _UNKNOWN * (1 - support.supported)
        + _JOINED * (support.joined or 0.0) ** _POWER
        + _DOUBTFUL * min(_MOST_DOUBTFUL, doubtful)
    )
    innocent = math.prod(1 - (span.probability or 0.0) for span in against)
    return 1 - innocent * (1 - 1 / (1 + math.exp(-total)))


def _readings(inputs: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    """Return the inputs as written and, if different, with the names of speakers for "I"."""
    by_name = {name: spoken(text) for name, text in inputs.items()}
    return [inputs] if by_name == inputs else [inputs, by_name]


def _doubts(
    output: str, spelled: Respelled, readings: Sequence[Mapping[str, str]]
) -> Iterator[Unverified]:
    """Yield the doubts about `output` when it is spelled as its source.

    A sentence must be doubtful beside each of the `readings` of the inputs.
    """
    doubtful: list[Unverified] = []
    for at, inputs in enumerate(readings):
        rules = doubts, context_doubts, correction_doubts
        beside = [doubt for rule in rules for doubt in rule(spelled.text, inputs)]
        starts = {doubt.start for doubt in beside}
        doubtful = [doubt for doubt in doubtful if doubt.start in starts] if at else beside
        if not doubtful:
            return
    for doubt in doubtful:
        start, end = spelled.interval(doubt.start, doubt.end)
        if not _is_introduced_as_in(readings[0], output, start):
            yield replace(doubt, start=start, end=end, text=output[start:end])


def _is_introduced_as_in(inputs: Mapping[str, str], output: str, start: int) -> bool:
    """Return whether an input has the sentence with what introduces it: ``The manual says that``.

    What introduces a sentence claims nothing, so the sentence is judged from `start` on.
    """
    for begin, end in sentence_intervals(output):
        if begin <= start < end and output[begin:start].strip():
            return any(output[begin:end].strip() in text for text in inputs.values())
    return False


def _unverified_sentences(text: str, support: Support) -> Iterator[Unverified]:
    """Yield the sentences of `text` with too many missing claims to vouch for them."""
    for sentence in support.sentences:
        lacking = [claim for claim in sentence.claims if not claim.supported]
        if not lacking or len(lacking) < _UNVERIFIED * len(sentence.claims):
            continue
        start, end = sentence.words[0].start, sentence.words[-1].end
        own = of_sentences([sentence], prose=support.prose)
        missing = _different(text, sentence, lacking)
        yield Unverified(
            start=start,
            end=end,
            text=text[start:end],
            probability=error_probability(own, ()),
            reason=_reason(len(missing), len(_different(text, sentence, sentence.claims))),
            words=tuple(missing[:_WORDS]),
        )


def _different(text: str, sentence: SentenceSupport, claims: Iterable[Claim]) -> list[str]:
    """Return the distinct words of `claims` in `text`."""
    return each_once(text[slice(*sentence.interval(claim))] for claim in claims)


def _reason(lacking: int, claims: int) -> str:
    if lacking == claims == 1:
        return "Its only content word does not occur in the source."
    verb = "does" if lacking == 1 else "do"
    return f"{lacking} of its {claims} content words {verb} not occur in the source."
