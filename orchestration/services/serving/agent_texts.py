"""Reports for agents as text that a model, or a person, reads and acts on."""

from collections.abc import Iterable, Iterator

from spanjury.orchestration.services.serving.agent_reports import (
    AspectCard,
    AspectScore,
    FoundError,
    TextCheck,
    TextComparison,
)


def check_lines(check: TextCheck) -> str:
    """Return the decision, the scores and the numbered errors, line by line."""
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
    """Return which text is better on each aspect and why, then the report on each text."""
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
    return "\n".join(map(_card_line, cards))


def _score_line(aspect: AspectScore) -> str:
    if aspect.score is None:
        return f"{aspect.aspect}: no score ({aspect.outcome}): {aspect.reason}"
    label = f" ({aspect.label})" if aspect.label else ""
    score = f"{aspect.score:.2f} on {aspect.lowest} to {aspect.highest}{label}, {aspect.decision}"
    return (
        f"{aspect.aspect}: {score}: {aspect.reason}"
        if aspect.reason
        else f"{aspect.aspect}: {score}"
    )


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
    yield f"{error.number}. {words}{position} ({error.aspect}{category}{severity})"
    yield f"   {error.explanation}"
    for evidence in error.evidence:
        yield f'   {evidence.input} says: "{evidence.text}"'


def _card_line(card: AspectCard) -> str:
    default = " (judged by default)" if card.judged_by_default else ""
    return f"{card.task}: {card.aspect}{default}: {card.definition}"
