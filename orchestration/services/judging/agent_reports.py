"""Reports for agents: a checked text, a comparison of two texts, an aspect; plain values only.

They are frozen dataclasses that any JSON library can write. A model reads their docstrings in
schemas, so these say what it can do with a value.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from spanjury.judges.core import Decision, ErrorSpan, Evidence, Result, Unverified
from spanjury.judges.core.transcript import Position, position_in
from spanjury.judges.text import fence, fill_template
from spanjury.orchestration.engine.rubric import deciding
from spanjury.orchestration.engine.summary import open_questions, risk_of
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import Condition, failure_of

Advice = Literal["ok", "unsure", "faulty", "undecided"]
"""A decision; ``undecided`` where an aspect has none and no other is worse than ``ok``."""
Better = Literal["a", "b", "no difference", "unscored"]
"""The better text on an aspect; ``unscored`` where no judge scored both."""

_GRAVEST_FIRST: tuple[Advice, ...] = ("faulty", "unsure", "undecided", "ok")
_ADVICE: dict[Decision | None, Advice] = {
    Decision.OK: "ok",
    Decision.UNSURE: "unsure",
    Decision.FAULTY: "faulty",
    None: "undecided",
}
_BY_DEFAULT = " (judged by default)"
_PACKAGE = "spanjury.orchestration.services.judging"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundError:
    """One error of the text.

    Parameters
    ----------
    number
        Its number in this report, from 1; the most severe comes first.
    aspect
        The aspect on which it was found.
    severity
        1 (hardly matters) to 5 (ruins the text); null where the judge gave none.
    category
        What sort of error it is; may be empty.
    text
        The words of the text that are wrong; empty where something is missing.
    start, end
        Where they stand, in characters from 0, the end not included; null where something is
        missing, or the judge quotes words that the text does not contain: ignore such an error.
    explanation
        Why it is an error.
    evidence
        Passages of the inputs that contradict the words or say what is right.
    found_by
        The judges that found it.
    at
        In an agent's messages, the turn, its call and the JSON path of the argument.
    """

    number: int
    aspect: str
    severity: int | None
    category: str
    text: str
    start: int | None
    end: int | None
    explanation: str
    evidence: tuple[Evidence, ...] = ()
    found_by: tuple[str, ...] = ()
    at: Position | None = None

    @property
    def is_misquoted(self) -> bool:
        """True if its words are not in the text."""
        return self.start is None and bool(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectScore:
    """The assessment of one aspect.

    Parameters
    ----------
    outcome
        ``scored``, or why there is no score, as ``abstained`` or ``backend_failed``.
    score, lowest, highest
        The score, null if there is none, and the ends of its scale; higher is better.
    label
        The score in a word; empty without a score, and where the judges cannot tell.
    decision
        Whether the text can be used unchanged, on this aspect.
    reason
        What the decision rests on and how often it is wrong, or why there is no score.
    error_probability
        Probability that the text has an error, 0 to 1; null where no judge says.
    unverified
        Sentences that no judge confirms, and none marks an error in: check them otherwise.
    """

    aspect: str
    outcome: str
    score: float | None
    lowest: int
    highest: int
    label: str
    decision: Advice
    reason: str
    error_probability: float | None = None
    unverified: tuple[Unverified, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCheck:
    """The report on a text.

    Parameters
    ----------
    decision
        ``ok``: use it; ``unsure``: the judges cannot tell, so check the errors and the unverified
        sentences; ``faulty``: correct the errors; ``undecided``: nothing was judged, and that is no
        praise.
    task
        What the text was judged as.
    errors
        The errors, the most severe first.
    aspects
        The score of each aspect, or why it has none.
    """

    decision: Advice
    task: str
    errors: tuple[FoundError, ...]
    aspects: tuple[AspectScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectComparison:
    """Two texts on one aspect.

    Parameters
    ----------
    better
        ``unscored`` where no judge scored both texts.
    difference
        The score of a less that of b, from the judges that scored both; null if unscored.
    reason
        What the answer rests on.
    """

    aspect: str
    better: Better
    difference: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextComparison:
    """Two texts beside each other, aspect by aspect, with the report on each."""

    aspects: tuple[AspectComparison, ...]
    a: TextCheck
    b: TextCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCard:
    """An aspect that can be asked for.

    Parameters
    ----------
    inputs
        The inputs that its judges may see; null for all, empty for none.
    needs
        The inputs without which it cannot be judged.
    judged_by_default
        Whether it is judged where no aspect is asked for.
    """

    task: str
    aspect: str
    definition: str
    inputs: tuple[str, ...] | None
    needs: tuple[str, ...]
    judged_by_default: bool


def text_check(results: Sequence[Result]) -> TextCheck:
    """Return the check of a text from its `results`, each on a different aspect."""
    aspects = tuple(map(_aspect_score, results))
    decisions = {_ADVICE[result.report.decision] for result in deciding(results)}
    return TextCheck(
        decision=next(advice for advice in _GRAVEST_FIRST if advice in decisions),
        task=results[0].aspect.task.name,
        errors=_numbered(results),
        aspects=aspects,
    )


def _aspect_score(result: Result) -> AspectScore:
    report, scale = result.report, result.aspect.scale
    basis = report.basis.reason if report.basis else ""
    risk = risk_of(report)
    if risk is not None and risk.words:
        basis += f" {risk.words}."
    for line in open_questions(report):
        basis += f" {line[0].upper()}{line[1:].rstrip('.')}."
    return AspectScore(
        aspect=result.aspect.name,
        outcome=report.outcome.value,
        score=report.score,
        lowest=scale.low,
        highest=scale.high,
        label="" if report.score is None or report.cannot_tell else scale.label(report.score),
        decision=_ADVICE[report.decision],
        reason=report.reason or basis.strip(),
        error_probability=report.error_probability,
        unverified=report.unverified,
    )


def _numbered(results: Iterable[Result]) -> tuple[FoundError, ...]:
    """Return the errors of all aspects, most severe first, then in the order of the text."""

    def rank(error: tuple[Result, ErrorSpan]) -> tuple[int, bool, int]:
        _, span = error
        return -(span.severity or 0), span.start is None, span.start or 0

    errors = [(result, span) for result in results for span in result.report.spans]
    return tuple(
        FoundError(
            number=number,
            aspect=result.aspect.name,
            severity=span.severity,
            category=span.category,
            text=span.text,
            start=span.start,
            end=span.end,
            explanation=span.explanation,
            evidence=span.evidence,
            found_by=span.found_by,
            at=position_in(result.segment, span),
        )
        for number, (result, span) in enumerate(sorted(errors, key=rank), start=1)
    )


def check_lines(check: TextCheck) -> str:
    """Return the decision, the scores and the numbered errors as lines."""
    return "\n".join(
        (
            f"Decision: {check.decision}",
            *map(_score_line, check.aspects),
            *(numbered_errors(check.errors) or ("No error was marked.",)),
            *(line for aspect in check.aspects for line in _unverified_lines(aspect)),
        )
    )


def numbered_errors(errors: Iterable[FoundError]) -> tuple[str, ...]:
    """Return a paragraph for each error: the words, what is wrong with them, and the evidence."""
    return tuple("\n".join(_error_lines(error)) for error in errors)


def comparison_lines(comparison: TextComparison) -> str:
    """Return lines that say which text is better on each aspect and why, then both reports."""
    return "\n".join(
        (
            *(
                f"{aspect.aspect}: {aspect.better} ({aspect.reason})"
                for aspect in comparison.aspects
            ),
            *("", "Text a", check_lines(comparison.a)),
            *("", "Text b", check_lines(comparison.b)),
        )
    )


def card_lines(cards: Iterable[AspectCard]) -> str:
    """Return a line for each aspect: its task, its name and its definition."""
    return "\n".join(
        f"{card.task}: {card.aspect}{_BY_DEFAULT * card.judged_by_default}: {card.definition}"
        for card in cards
    )


def _score_line(aspect: AspectScore) -> str:
    if aspect.score is None:
        return f"{aspect.aspect}: no score ({aspect.outcome}): {aspect.reason}"
    label = f" ({aspect.label})" if aspect.label else ""
    score = f"{aspect.score:.2f} on {aspect.lowest} to {aspect.highest}{label}, {aspect.decision}"
    return ": ".join(filter(None, (aspect.aspect, score, aspect.reason)))


def _unverified_lines(score: AspectScore) -> Iterator[str]:
    for sentence in score.unverified if score.decision != "ok" else ():
        words = f" ({', '.join(sentence.words)})" if sentence.words else ""
        yield f'Not verified on {score.aspect}: "{sentence.text}" {sentence.reason}{words}'


def _error_lines(error: FoundError) -> Iterator[str]:
    position = "" if error.start is None else f" at {error.start}-{error.end}"
    position = " (not in the text)" if error.is_misquoted else position
    severity = "" if error.severity is None else f", severity {error.severity} of 5"
    category = f", {error.category}" if error.category else ""
    words = f'"{error.text}"' if error.text else "Something is missing"
    position = f", {error.at}" if error.at else position
    yield f"{error.number}. {words}{position} ({error.aspect}{category}{severity})"
    yield f"   {error.explanation}"
    for evidence in error.evidence:
        yield f'   {evidence.input} says: "{evidence.text}"'


def feedback_on(
    report: TextReport, conditions: Sequence[Condition], *, template: str = "feedback.txt"
) -> str | None:
    """Return a request to correct a text; None if the text meets none of `conditions`.

    It names all errors on the failing aspects, most severe first, with words, position, reason,
    severity and the evidence from the source: correcting them one by one would cost more rounds.
    Errors in the same words are one item, with each aspect and each reason. A quote that is not in
    the text is named only if a condition asks for such quotes.
    """
    failing = [result for result in report.results if failure_of(result, conditions)]
    if not failing:
        return None
    asked = any(condition.asks_for_unlocated for condition in conditions)
    listed = text_check(failing).errors
    errors = [error for error in listed if asked or not error.is_misquoted]
    lines = list(numbered_errors(_one_for_the_same_words(errors)))
    for result in failing if not lines else ():
        made = result.report
        reason = made.basis.reason if made.basis else made.reason
        lines.append(f"{result.aspect.name}: {made.decision or made.outcome.value}: {reason}")
    fenced = fence({"Report": "\n".join(lines)})
    return fill_template(_PACKAGE, template, {"report": fenced.text, "mark": fenced.mark})


def _one_for_the_same_words(errors: Sequence[FoundError]) -> Iterator[FoundError]:
    """Yield errors, numbered, of which those in the same words are joined to the first of them."""
    by_words: dict[tuple[object, ...], list[FoundError]] = {}
    for error in errors:
        words = (error.text, error.start, error.end)
        key = words if error.text else (error.number,)  # omissions have no words in common
        by_words.setdefault(key, []).append(error)
    for number, same in enumerate(by_words.values(), 1):
        yield replace(
            same[0],
            number=number,
            aspect=", ".join(dict.fromkeys(error.aspect for error in same)),
            explanation="\n   ".join(dict.fromkeys(error.explanation for error in same)),
            evidence=tuple(dict.fromkeys(item for error in same for item in error.evidence)),
        )
