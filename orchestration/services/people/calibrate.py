"""A calibration, from a run and people's marks to a file that a panel names."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DataError,
    Outcome,
    Scale,
    Task,
    is_grave,
    unstamped,
)
from spanjury.orchestration.engine.calibration import Calibration
from spanjury.orchestration.engine.made_for import aspect_key, is_staged, panel_digest, signed_seats
from spanjury.orchestration.services.people.marked_texts import (
    JudgedText,
    MarkedSource,
    MarkedTexts,
    read_marked,
)
from spanjury.orchestration.studies.calibration.findings import aspect_findings
from spanjury.orchestration.studies.calibration.fitting import CalibrationTexts, Terms, TextOnAspect
from spanjury.orchestration.studies.calibration.tables import (
    FEWEST,
    CalibrationFindings,
    cautions,
    enough,
)

_CALIBRATED = "|calibration:"
_FROM_SPANS = "|aggregation:from-spans"


def calibrate(
    source: MarkedSource,
    *,
    terms: Terms,
    people_scale: tuple[float, float] | None = None,
    clean_from: float | None = None,
    begin: Callable[[str], None] = lambda _: None,
) -> CalibrationFindings:
    """Fit a calibration to the marked texts of a run, and see what it gains on held-out ones.

    `people_scale` is their worst and best score, by default that of the aspect. If no one looked
    for errors, a text is free of errors from the score `clean_from` on, by default the best.
    `begin` is called with the name of each aspect before it is calibrated.

    Raise `ConfigError` if people's scores are not on the scale, or the run was calibrated already,
    and `DataError` if fewer than `FEWEST` texts of every aspect are marked and scored, all are
    alike, or the rows are of several panels; and as `read_marked` does.
    """
    marked = read_marked(source)
    signature = _one_panel(marked, source)
    by_aspect = {key: _scored(marked, *key) for key in marked.aspects}
    usable = {key: texts for key, texts in by_aspect.items() if len(texts) >= FEWEST}
    if not usable:
        raise DataError(_too_few(marked, by_aspect))
    texts = [
        _texts(group, people_scale=people_scale, clean_from=clean_from, data=_data_name(source))
        for group in usable.values()
    ]
    if not any(map(_can_fit, texts)):
        raise DataError(
            f"{marked.name}: people found an error in each of {len(texts[0].texts)} texts and "
            "scored them all alike: thresholds need marked texts without an error, and a map "
            "needs different scores"
        )
    findings = []
    for about in texts:
        begin(f"calibrating {about.aspect.name}")
        findings.append(aspect_findings(about, terms))
    kept = {
        aspect_key(aspect.task, aspect.aspect): aspect.calibration
        for aspect in findings
        if aspect.kept
    }
    return CalibrationFindings(
        results=str(source.first),
        marks=marked.name,
        terms=terms,
        calibration=Calibration(panel=panel_digest(signature), seats=_seats(marked), aspects=kept)
        if kept
        else None,
        aspects=tuple(findings),
        enough=tuple(tuple(enough(aspect)) for aspect in findings),
        cautions=tuple(
            tuple(cautions(about, aspect, terms))
            for about, aspect in zip(texts, findings, strict=True)
        ),
        notes=tuple(_notes(marked, by_aspect)),
    )


def _one_panel(marked: MarkedTexts, source: MarkedSource) -> str:
    """Return the signature of the panel that judged all marked texts."""
    signatures = {unstamped(text.row.signature) for text in marked.marked}
    if any(_CALIBRATED in signature for signature in signatures):
        raise ConfigError(
            f"{source.first} was judged with a calibration: name a run without one, or judge its"
            " texts again without --calibration"
        )
    if len({panel_digest(signature) for signature in signatures}) > 1:
        raise DataError(f"{source.first}: the marked texts were judged by different panels")
    return signatures.pop()


def _scored(marked: MarkedTexts, task: str, aspect: str) -> tuple[JudgedText, ...]:
    """Return the marked texts that the panel scored."""
    on_aspect = marked.on(task, aspect)
    return tuple(text for text in on_aspect if text.is_marked and text.row.score is not None)


def _too_few(marked: MarkedTexts, by_aspect: dict[tuple[str, str], tuple[JudgedText, ...]]) -> str:
    counts = ", ".join(f"{len(texts)} of {aspect}" for (_, aspect), texts in by_aspect.items())
    outcomes = Counter(
        text.row.outcome.value for text in marked.marked if text.row.outcome is not Outcome.SCORED
    )
    unscored = f" ({', '.join(f'{n} {name}' for name, n in outcomes.items())})" if outcomes else ""
    return (
        f"{marked.name}: {counts} are marked by people and scored by the panel{unscored}; an "
        f"aspect needs at least {FEWEST}"
    )


def _can_fit(texts: CalibrationTexts) -> bool:
    scores = {text.human for text in texts.texts if text.human is not None}
    return bool(texts.clean.any()) or len(scores) > 1


def _texts(
    judged: Sequence[JudgedText],
    *,
    people_scale: tuple[float, float] | None,
    clean_from: float | None,
    data: str,
) -> CalibrationTexts:
    first = judged[0]
    low, high = people_scale or (first.scale.low, first.scale.high)
    _check_scale(judged, low=low, high=high, is_named=people_scale is not None)
    clean_from = high if clean_from is None else clean_from
    judges = {_judge(seat.signature) for text in judged for seat in text.row.seats}
    texts = (_text(text, low=low, high=high, clean_from=clean_from) for text in judged)
    if is_staged(first.row.signature):
        # The probability is of the seats that were asked, and so another number on each text.
        texts = (replace(text, stating=frozenset()) for text in texts)
    return CalibrationTexts(
        aspect=first.meaning or _unknown(first),
        texts=tuple(texts),
        made_on=f"{len(judged)} texts of {data}",
        judges=frozenset(judges),
        from_spans=_FROM_SPANS in first.row.signature,
    )


def _data_name(source: MarkedSource) -> str:
    """Return what the marked texts are called in the file: short, and the same in any folder."""
    return source.human.name if source.human else source.first.resolve().name


def _text(judged: JudgedText, *, low: float, high: float, clean_from: float) -> TextOnAspect:
    row, scale = judged.row, judged.scale
    factor = (scale.high - scale.low) / (high - low)
    human = judged.human
    clean = None if human is None else human >= clean_from
    assert row.score is not None
    scoring = [seat for seat in row.seats if seat.score is not None]
    all_state = all(seat.error_probability is not None for seat in scoring)
    return TextOnAspect(
        source=judged.source,
        score=row.score,
        probability=row.error_probability,
        is_grave=any(map(is_grave, row.spans)),
        people={name: scale.low + (score - low) * factor for name, score in judged.people.items()},
        is_clean=not judged.spans if judged.spans is not None else clean,
        scored=row.in_score,
        stating=frozenset(_judge(seat.signature) for seat in scoring if all_state),
        output=judged.segment.output if judged.segment else "",
        spans=row.spans,
        inclusion=1.0 if judged.chance is None else judged.chance,
    )


def _check_scale(judged: Sequence[JudgedText], *, low: float, high: float, is_named: bool) -> None:
    given = [score for text in judged for score in text.people.values()]
    if not low < high:
        raise ConfigError(
            f"people's scale goes from {low:g} to {high:g}: name the lower number first, as 0:1"
        )
    if given and not low <= min(given) <= max(given) <= high:
        hint = "" if is_named else "; name theirs by --people-scale, as 0:1"
        raise ConfigError(
            f"people's scores on {judged[0].row.aspect} go from {min(given):g} to {max(given):g},"
            f" which is not on the scale from {low:g} to {high:g}{hint}"
        )


def _unknown(judged: JudgedText) -> Aspect:
    """Return an aspect of which the name and the scale alone are known."""
    task = Task(name=judged.row.task, description="")
    return Aspect(name=judged.row.aspect, task=task, definition="", kind="content", scale=Scale())


def _judge(signature: str) -> str:
    """Return the name of the judge that a signature is of."""
    return signature.partition("|")[0]


def _seats(marked: MarkedTexts) -> tuple[str, ...]:
    """Return the seats of the panel; a cascade did not ask all of them on each text."""
    seats = (seat for text in marked.marked for seat in text.row.seats)
    return signed_seats({seat.judge: seat.signature for seat in seats})


def _notes(
    marked: MarkedTexts, by_aspect: dict[tuple[str, str], tuple[JudgedText, ...]]
) -> Iterator[str]:
    yield from marked.notes(of_marked=True)
    for (task, aspect), texts in by_aspect.items():
        if len(texts) < FEWEST:
            yield f"{aspect} is left out: it has {len(texts)} texts and needs at least {FEWEST}"
        yield from _silent(marked.on(task, aspect), aspect)


def _silent(judged: Sequence[JudgedText], aspect: str) -> Iterator[str]:
    """Say which seats never scored a marked text, and why."""
    ends: dict[str, Counter[Outcome]] = {}
    for text in judged:
        for seat in text.row.seats if text.is_marked else ():
            ends.setdefault(seat.judge, Counter())[seat.outcome] += 1
    for name, outcomes in ends.items():
        if Outcome.SCORED not in outcomes:
            how = ", ".join(outcome.value for outcome in outcomes)
            yield (
                f"the seat {name} never scored {aspect} ({how}): the calibration covers the "
                "other seats"
            )
