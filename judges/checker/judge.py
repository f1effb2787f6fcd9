"""The judge `checker`: a model says of each claim of a text whether a passage supports it.

A claim is supported as well as by the passage that supports it best, and a text is as likely wrong
as the claim in it that is most likely wrong, as in MiniCheck (Tang et al. 2024, sections 2 and 4).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from typing import ClassVar

from spanjury.judges.checker.cutting import (
    ClaimText,
    Interval,
    Passage,
    best_passages,
    claim_texts,
    content_stems,
    passages_of,
    phrases,
)
from spanjury.judges.core import (
    AskedChecker,
    Aspect,
    CheckedPairs,
    Checker,
    ClaimPair,
    ClaimSupport,
    ErrorSpan,
    Evidence,
    JudgeError,
    Located,
    Outcome,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    Unverified,
    Usage,
    gravest,
    probability_with,
    score_of_probability,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.passages import passages_in
from spanjury.judges.text.languages import SAMPLE, foreign_language, script
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.turns import LONG, in_turn
from spanjury.judges.text.words import folded_words

_BATCH = 16  # pairs that are checked between two points where the work may be cancelled
_LEAST_ROOM = 2  # one token of a passage and one of a claim
_SEVERITY = 4  # of an error: a checker says that it is wrong, not how much it matters
_LETTERS = 200  # of a quote in an explanation, at most
_CONTRADICTED, _MISSING, _UNSUPPORTED = "contradicted", "not in the source", "not supported"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerJudge:
    """Have a checker say of each claim of a text whether a passage of the inputs supports it.

    It judges aspects of the kind ``"grounding"`` and abstains on others, without an input that the
    aspect may look at, on an output that makes no claim and, without `any_language`, on what is not
    English. The score falls with the probability of an error alone. For another list of errors,
    that probability is changed by what the errors add or take away (`probability_with`).

    Parameters
    ----------
    checker
        The model, or what asks a chat model.
    threshold
        Probability of an error, above 0, from which a claim is an error, and from which a word of
        it is marked where the checker has probabilities for words.
    vouched
        Probability of an error, above 0, from which a claim below the threshold is reported as
        unverified.
    passages
        The most passages that a claim is checked with: those that share most words with it. 0 for
        all.
    passage_tokens
        The most tokens of a passage; 0 for as many as the checker has room for.
    phrases
        Whether a checker without probabilities for words is asked again about each claim that is
        an error, with one phrase left out at a time: the shortest phrase is marked without which
        the claim is none.
    any_language
        Whether the checker reads more than English.
    max_spans
        The most errors of a report; the score counts all.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    blind_spots: ClassVar[str] = (
        "what follows only from several passages of the input together; how much an error matters; "
        "whatever its model was not trained to see"
    )

    checker: Checker | AskedChecker
    threshold: float = 0.5
    vouched: float = 0.3
    passages: int = 8
    passage_tokens: int = 0
    phrases: bool = False
    any_language: bool = False
    max_spans: int = 8

    def __post_init__(self) -> None:
        for name in ("threshold", "vouched"):
            if not 0.0 < (probability := getattr(self, name)) <= 1.0:
                raise ValueError(f"{name} must be above 0 and at most 1, got {probability!r}")
        for name in ("passages", "passage_tokens", "max_spans"):
            if (number := getattr(self, name)) < 0:
                raise ValueError(f"{name} must not be negative, got {number!r}")

    @property
    def signature(self) -> str:
        """The checker, the options and the rules."""
        return signature(
            "checker",
            checker=self.checker.signature,
            threshold=self.threshold,
            vouched=self.vouched,
            passages=self.passages,
            passage_tokens=self.passage_tokens,
            phrases=self.phrases,
            any_language=self.any_language,
            max_spans=self.max_spans,
            rules=code_digest(__name__),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Check the output against the inputs that `aspect` may look at.

        Raises
        ------
        JudgeError
            If the checker cannot be loaded or run.
        ModelError
            If it asks a chat model, and that gives no reply.
        """
        checked = await self._checked(segment, aspect)
        if checked.unscored is not None:
            return checked.unscored
        spans = self._spans(checked.findings, segment, aspect)
        report = self._report(checked.findings, spans, own=spans, segment=segment, aspect=aspect)
        rationale = f"{report.rationale} {checked.note}".rstrip()
        return replace(report, rationale=rationale, reply=checked.reply, usage=checked.usage)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that `spans` make, in place of those that are reported."""
        checked = await self._checked(segment, aspect)
        if (report := checked.unscored) is None:
            own = self._spans(checked.findings, segment, aspect)
            reported = gravest(own, limit=self.max_spans)
            listed = [*spans, *(span for span in own if span not in reported)]
            report = self._report(checked.findings, listed, own=own, segment=segment, aspect=aspect)
            report = replace(report, usage=checked.usage)
        return Rescoring(
            report=replace(report, spans=tuple(spans)), method=RescoringMethod.COMPUTED
        )

    def _obstacle(self, segment: Segment, aspect: Aspect) -> str:
        """Say why a segment cannot be judged; empty if it can."""
        if aspect.kind != "grounding":
            return f"{aspect.name} is not about what the inputs support"
        inputs = self._sources(segment, aspect)
        if not any(text.strip() for text in inputs.values()):
            return "there is no input to compare with"
        return "" if self.any_language else _not_english(segment.output, inputs)

    def _sources(self, segment: Segment, aspect: Aspect) -> Mapping[str, str]:
        """Return the inputs that passages are made of."""
        apart = self.checker.apart if isinstance(self.checker, AskedChecker) else ()
        return {
            header: text
            for header, text in aspect.view(segment.inputs).items()
            if aspect.task.canonical_header(header) not in apart
        }

    async def _checked(self, segment: Segment, aspect: Aspect) -> "_Checked":
        """Check all claims."""
        if obstacle := self._obstacle(segment, aspect):
            return _Checked(unscored=_abstained(obstacle))
        inputs, output = self._sources(segment, aspect), segment.output
        # What is short takes as long to check as what is long to look at: all goes to a thread.
        read = await in_turn(partial(self._readings, output, inputs), length=LONG + 1)
        if not read:
            return _Checked(unscored=_abstained("the output makes no claim"))
        pairs = [
            ClaimPair(passage.text, output[reading.text.start : reading.text.end])
            for reading in read
            for passage in reading.passages
        ]
        asked = await self._answers(pairs, segment=segment, aspect=aspect)
        left = iter(asked.answers)
        checked = _Checked(
            findings=()
            if asked.unscored
            else tuple(
                finding
                for reading in read
                for finding in reading.findings(list(islice(left, len(reading.passages))))
            ),
            unscored=asked.unscored,
            reply=asked.reply,
            usage=asked.usage,
            note=asked.note,
        )
        if not self.phrases or checked.unscored:
            return checked
        return await self._with_phrases(checked, segment=segment, aspect=aspect)

    async def _answers(
        self, pairs: Sequence[ClaimPair], *, segment: Segment, aspect: Aspect
    ) -> CheckedPairs:
        """Ask about all pairs; in a thread a batch at a time, cancellable between the batches."""
        if isinstance(self.checker, AskedChecker):
            return await self.checker.ask(pairs, segment=segment, aspect=aspect)
        answers: list[ClaimSupport] = []
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            answers += await in_turn(partial(self._check, self.checker, batch), length=LONG + 1)
        return CheckedPairs(answers=tuple(answers))

    async def _with_phrases(
        self, checked: "_Checked", *, segment: Segment, aspect: Aspect
    ) -> "_Checked":
        """Return what was checked; wrong claims without words have the phrase that decides."""
        findings, output = checked.findings, segment.output
        candidates = [
            phrases(output, (finding.start, finding.end))
            if finding.error_probability >= self.threshold and not finding.words
            else []
            for finding in findings
        ]
        pairs = [
            ClaimPair(finding.passage.text, _without(phrase, finding, output))
            for finding, shorter in zip(findings, candidates, strict=True)
            for phrase in shorter
        ]
        asked = await self._answers(pairs, segment=segment, aspect=aspect)
        usage = checked.usage + asked.usage
        if asked.unscored:  # the verdicts stand without it
            return replace(checked, usage=usage)
        left = iter(asked.answers)
        marked = []
        for finding, shorter in zip(findings, candidates, strict=True):
            rest = list(islice(left, len(shorter)))
            deciding = [
                _Word(start=start, end=end, wrong=finding.error_probability)
                for (start, end), answer in zip(shorter, rest, strict=True)
                if 1.0 - answer.supported < self.threshold
            ]
            marked.append(replace(finding, words=tuple(deciding[:1])) if deciding else finding)
        return replace(checked, findings=tuple(marked), usage=usage)

    def _readings(self, output: str, inputs: Mapping[str, str]) -> list["_Reading"]:
        """Return what is to be checked: each claim with its passages."""
        count_tokens, room = self.checker.count_tokens, self.checker.room()
        if room < _LEAST_ROOM:
            raise JudgeError(f"{self.checker.signature} has room for {room!r} tokens only")
        texts = claim_texts(output, unit=self.checker.unit, room=room, count_tokens=count_tokens)
        if not texts:
            return []
        longest = max(count_tokens([output[text.start : text.end] for text in texts]))
        most = max(1, room - longest)
        most = min(most, self.passage_tokens or most)
        passages = passages_of(inputs, most=most, count_tokens=count_tokens)
        return [
            _Reading(
                text=text,
                passages=best_passages(
                    output[text.start : text.end], passages, limit=self.passages
                ),
                by_word=self.checker.unit == "text",
            )
            for text in texts
        ]

    @staticmethod
    def _check(checker: Checker, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        answers = checker.check(pairs)
        if len(answers) != len(pairs):
            raise JudgeError(
                f"{checker.signature} gave {len(answers)} answers on {len(pairs)} pairs"
            )
        return answers

    def _spans(
        self, findings: Sequence["_Finding"], segment: Segment, aspect: Aspect
    ) -> list[ErrorSpan]:
        inputs = aspect.view(segment.inputs)
        return [
            _span(finding, start=start, end=end, probability=probability, inputs=inputs, of=segment)
            for finding in findings
            if finding.error_probability >= self.threshold
            for start, end, probability in _marked(
                finding, segment.output, threshold=self.threshold
            )
        ]

    def _report(
        self,
        findings: Sequence["_Finding"],
        spans: Sequence[ErrorSpan],
        *,
        own: Sequence[ErrorSpan],
        segment: Segment,
        aspect: Aspect,
    ) -> Report:
        likely = max(finding.error_probability for finding in findings)
        probability = probability_with(spans, probability=likely, own=own)
        unverified = tuple(
            _unverified(finding, segment.output)
            for finding in findings
            if self.vouched <= finding.error_probability < self.threshold
        )
        wrong = sum(finding.error_probability >= self.threshold for finding in findings)
        is_stated = all(finding.is_stated for finding in findings)
        return Report(
            score=score_of_probability(probability, aspect.scale),
            spans=gravest(own, limit=self.max_spans),
            unverified=unverified,
            rationale=_rationale(len(findings), wrong=wrong, unverified=len(unverified)),
            error_probability=probability if is_stated else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of the output; `wrong` is the probability that its passage does not support it."""

    start: int
    end: int
    wrong: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """A claim, and the answer on it with the passage that supports it best.

    Parameters
    ----------
    read_from
        Where the text begins that was read as the claim.
    opposed
        The passage that contradicts it most, with the probability that it does; None where the
        checker tells of no contradiction.
    is_stated, explanation
        As the answer with that passage has them.
    """

    read_from: int
    start: int
    end: int
    supported: float
    words: tuple[_Word, ...]
    passage: Passage
    opposed: tuple[float, Passage] | None
    is_stated: bool
    explanation: str

    @property
    def error_probability(self) -> float:
        return 1.0 - self.supported


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """The findings on a text, or the report without a score; and what a chat model replied."""

    findings: tuple[_Finding, ...] = ()
    unscored: Report | None = None
    reply: str = ""
    usage: Usage = Usage()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A text that is read as one claim, and the passages that it is checked with.

    `by_word` says whether a claim in it is as well supported as its worst word.
    """

    text: ClaimText
    passages: Sequence[Passage]
    by_word: bool

    def findings(self, answers: Sequence[ClaimSupport]) -> Iterator[_Finding]:
        """Yield one finding for each claim; `answers` has one a passage."""
        for claim in self.text.claims:
            read = [self._of_claim(claim, answer) for answer in answers]
            best = max(range(len(read)), key=lambda at: (read[at][0], -at))
            against = [
                (answer.contradicted, -at)
                for at, answer in enumerate(answers)
                if answer.contradicted is not None
            ]
            most = max(against, default=None)
            yield _Finding(
                read_from=self.text.start,
                start=claim[0],
                end=claim[1],
                supported=read[best][0],
                words=read[best][1],
                passage=self.passages[best],
                opposed=(most[0], self.passages[-most[1]]) if most else None,
                is_stated=answers[best].is_stated,
                explanation=answers[best].explanation,
            )

    def _of_claim(self, claim: Interval, answer: ClaimSupport) -> tuple[float, tuple[_Word, ...]]:
        """Return how well a passage supports a claim in the text that was read, and its words."""
        offset = self.text.start
        words = tuple(
            _Word(start=offset + word.start, end=offset + word.end, wrong=1.0 - word.supported)
            for word in answer.words
            if claim[0] <= offset + word.start and offset + word.end <= claim[1]
        )
        if self.by_word and words:
            return 1.0 - max(word.wrong for word in words), words
        return answer.supported, words


def _marked(
    finding: _Finding, output: str, *, threshold: float
) -> Iterator[tuple[int, int, float]]:
    """Yield the runs of words that are wrong, with their probabilities; else the whole claim."""
    runs = []
    for is_wrong, group in groupby(finding.words, key=lambda word: word.wrong >= threshold):
        words = list(group)
        text = output[words[0].start : words[-1].end]
        if is_wrong and any(letter.isalnum() for letter in text):
            runs.append((words[0].start, words[-1].end, max(word.wrong for word in words)))
    yield from runs or [(finding.start, finding.end, finding.error_probability)]


def _without(phrase: Interval, finding: _Finding, output: str) -> str:
    """Return the text that was read as a claim with a phrase left out."""
    rest = output[finding.read_from : phrase[0]] + output[phrase[1] : finding.end]
    return " ".join(rest.split())


def _span(
    finding: _Finding,
    *,
    start: int,
    end: int,
    probability: float,
    inputs: Mapping[str, str],
    of: Segment,
) -> ErrorSpan:
    """Return an error, with the sentence of the passage that decided as its evidence."""
    category, passage = _UNSUPPORTED, finding.passage
    if finding.opposed is not None:
        against, opposing = finding.opposed
        # Silence has what is left of 1; where that is more, the passage says nothing of it.
        is_contradicted = against >= max(0.0, 1.0 - finding.supported - against)
        category = _CONTRADICTED if is_contradicted else _MISSING
        passage = opposing if is_contradicted else passage
    evidence = _nearest(_sentences_at((start, end), finding, of.output), passage, inputs)
    stated = probability if finding.is_stated else None
    return ErrorSpan(
        text=of.output[start:end],
        start=start,
        end=end,
        explanation=finding.explanation
        or _explanation(
            of.output[start:end], category=category, probability=stated, evidence=evidence
        ),
        severity=_SEVERITY,
        category=category,
        located=Located.EXACT,
        evidence=(evidence,) if evidence else (),
        probability=stated,
    )


def _sentences_at(marked: Interval, finding: _Finding, output: str) -> str:
    """Return the sentences of a claim that hold a part of what is marked in it."""
    claim = output[finding.start : finding.end]
    start, end = marked[0] - finding.start, marked[1] - finding.start
    touched = [at for at in sentence_intervals(claim) if at[0] < end and start < at[1]]
    return claim[touched[0][0] : touched[-1][1]] if touched else claim


def _nearest(claim: str, passage: Passage, inputs: Mapping[str, str]) -> Evidence | None:
    """Return the sentence of a passage that shares most words with a claim; None if none does."""
    stems = content_stems(claim)
    shared = [len(stems & content_stems(sentence.text)) for sentence in passage.sentences]
    if not any(shared):
        return None
    sentence = passage.sentences[shared.index(max(shared))]
    return Evidence(
        input=sentence.input,
        start=sentence.start,
        end=sentence.end,
        text=inputs[sentence.input][sentence.start : sentence.end],
    )


def _explanation(
    text: str, *, category: str, probability: float | None, evidence: Evidence | None
) -> str:
    """Say why `text` is an error; `probability` is that of the error."""
    quote = "" if evidence is None else _shortened(evidence.text)
    if category == _CONTRADICTED:
        return f"The source says: '{quote}'." if quote else "The source says otherwise."
    nothing = f"Nothing in the source supports '{_shortened(text)}'"
    if probability is not None:
        nothing += f" (probability at most {1.0 - probability:.2f})"
    return f"{nothing}; the nearest sentence is: '{quote}'." if quote else f"{nothing}."


def _shortened(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _LETTERS else f"{line[:_LETTERS].rstrip()}…"


def _unverified(finding: _Finding, output: str) -> Unverified:
    return Unverified(
        start=finding.start,
        end=finding.end,
        text=output[finding.start : finding.end],
        probability=finding.error_probability,
        reason=f"The best passage supports it with probability {finding.supported:.2f} only.",
    )


def _rationale(claims: int, *, wrong: int, unverified: int) -> str:
    counts = {
        "supported": claims - wrong - unverified,
        "not supported": wrong,
        "not verified": unverified,
    }
    parts = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{claims} claim{'s' * (claims != 1)}: {parts}."


def _abstained(reason: str) -> Report:
    return Report(outcome=Outcome.ABSTAINED, reason=reason)


def _not_english(output: str, inputs: Mapping[str, str]) -> str:
    """Say which text is not English; empty if all may be."""
    apart = passages_in(inputs)
    whole = {} if len(apart) == len(inputs) else {"input": "\n\n".join(inputs.values())}
    for name, text in {"output": output, **whole, **apart}.items():
        written = script(text)
        language = foreign_language(folded_words(text[:SAMPLE]))
        if written not in {None, "Latin"} or language:
            is_in = language or f"in {written} script"
            return f"the {name} is {is_in}; any_language=true is for checkers that read it"
    return ""
