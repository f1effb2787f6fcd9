"""A calibration: a panel's numbers on people's terms."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

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
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import MarkedStudy

with lazily():
    from spanjury.orchestration.engine import calibration, made_for
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.people import marked_texts
    from spanjury.orchestration.studies.calibration import findings, fitting, tables
    from spanjury.orchestration.wiring import calibrations

_SECTION = "Calibration"
_CALIBRATED = "|calibration:"
_FROM_SPANS = "|aggregation:from-spans"


def parse_ends(spec: str) -> tuple[float, float]:
    """Read the ends of a scale, ``LOW:HIGH``; raise `ConfigError` if it is of another form.

    Examples
    --------
    >>> parse_ends("0:1")
    (0.0, 1.0)
    """
    low, _, high = spec.partition(":")
    with suppress(ValueError):
        ends = float(low), float(high)
        if all(map(math.isfinite, ends)):
            return ends
    raise ConfigError(f"--people-scale takes LOW:HIGH, as 0:1; got {spec!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrate(MarkedStudy["tables.CalibrationFindings"]):
    """Calibrate a panel's scores and thresholds on people's marks, and measure the gain.

    The marks are those that people made of the run (`spanjury view RUN`), or scores in a file. The
    figures come from held-out texts; all texts of a source are held out together.
    """

    several = False
    results_help = "Folder or name of a run, or a file of results."
    has_folder = False

    people_scale: Annotated[
        tuple[float, float] | None,
        Parameter(
            "Worst and best score on people's scale; the aspect's scale by default.",
            "LOW:HIGH",
            kind=str | None,
            read=parse_ends,
        ),
    ] = None
    clean_from: Annotated[
        float | None,
        Parameter(
            "Lowest human score at which a text counts as free of errors; by default the best.",
            "SCORE",
        ),
    ] = None
    rate: Annotated[
        float,
        Parameter(
            "Maximum share of false alarms among texts without errors.",
            "SHARE",
            min=0.001,
            max=0.5,
            section=_SECTION,
        ),
    ] = 0.1
    confidence: Annotated[
        float | None,
        Parameter(
            "Confidence level for --rate; by default the rate holds only on average.",
            "SHARE",
            min=0.5,
            max=0.999,
            section=_SECTION,
        ),
    ] = None
    folds: Annotated[
        int,
        Parameter(
            "Number of cross-validation folds; each source is in one fold.", min=2, section=_SECTION
        ),
    ] = 10
    draws: Annotated[
        int, Parameter("Number of bootstrap resamples.", min=100, section=_SECTION)
    ] = 1000
    seed: Annotated[int, Parameter("Seed for folds and resampling.", section=_SECTION)] = 1
    output: Annotated[
        Path | str | None,
        Parameter(
            "File for the calibration, to use with --calibration or in a panel file.",
            also="-o",
            kind=Path,
            usual=Path("calibration.toml"),
            section="Options",
        ),
    ] = None

    def find(self) -> "study_report.StudyReport[tables.CalibrationFindings]":
        """Fit the calibration, and write it; raise as `MarkedStudy.find` does."""
        fitted = self._fitted()
        closing = "no calibration was written: no gain was shown, and no threshold can be set"
        if fitted.calibration is not None and self.output is not None:
            calibrations.write_calibration(fitted.calibration, Path(self.output))
            closing = (
                f"written: {self.output}; use it with --calibration {self.output}, or name it in"
                " the panel file"
            )
        return study_report.file_report(
            fitted,
            name="calibration",
            document=tables.calibration_report(fitted),
            values=tables.calibration_json(fitted),
            closing=(closing,),
        )

    def _fitted(self) -> "tables.CalibrationFindings":
        """Fit a calibration to the marked texts, and see what it gains on held-out ones."""
        source = self.source
        marked = marked_texts.read_marked(source)
        signature = _one_panel(marked, source)
        by_aspect = {key: _scored(marked, *key) for key in marked.aspects}
        usable = [texts for texts in by_aspect.values() if len(texts) >= findings.FEWEST]
        if not usable:
            raise DataError(_too_few(marked, by_aspect))
        # The file names the marked texts by this: short, and the same in any folder.
        name = source.human.name if source.human else source.first.resolve().name
        texts = [self._texts(judged, data=name) for judged in usable]
        if not any(map(_can_fit, texts)):
            raise DataError(
                f"{marked.name}: people found an error in each of {len(texts[0].texts)} texts and "
                "scored them all alike: thresholds need marked texts without an error, and a map "
                "needs different scores"
            )
        terms = fitting.Terms(
            rate=self.rate,
            confidence=self.confidence,
            folds=self.folds,
            draws=self.draws,
            seed=self.seed,
        )
        aspects = []
        for about in texts:
            self.begin(f"calibrating {about.aspect.name}")
            aspects.append(findings.aspect_findings(about, terms))
        kept = {
            made_for.aspect_key(aspect.task, aspect.aspect): aspect.calibration
            for aspect in aspects
            if aspect.kept
        }
        panel, seats = made_for.panel_digest(signature), _seats(marked)
        return tables.CalibrationFindings(
            results=str(source.first),
            marks=marked.name,
            terms=terms,
            calibration=calibration.Calibration(panel=panel, seats=seats, aspects=kept)
            if kept
            else None,
            aspects=tuple(aspects),
            notes=tuple(_notes(marked, by_aspect)),
        )

    def _texts(
        self, judged: "Sequence[marked_texts.JudgedText]", *, data: str
    ) -> "fitting.CalibrationTexts":
        """Return the texts of an aspect, with people's scores on its scale."""
        first = judged[0]
        low, high = self.people_scale or (first.scale.low, first.scale.high)
        _check_scale(judged, low=low, high=high, is_named=self.people_scale is not None)
        clean_from = high if self.clean_from is None else self.clean_from
        judges = {_judge(seat.signature) for text in judged for seat in text.row.seats}
        texts = (_text(text, low=low, high=high, clean_from=clean_from) for text in judged)
        if made_for.is_staged(first.row.signature):
            # The probability is of the seats that were asked, and so another number on each text.
            texts = (replace(text, stating=frozenset()) for text in texts)
        return fitting.CalibrationTexts(
            aspect=first.meaning or _unknown(first),
            texts=tuple(texts),
            made_on=f"{len(judged)} texts of {data}",
            judges=frozenset(judges),
            from_spans=_FROM_SPANS in first.row.signature,
        )


acalibrate, calibrate = from_python(Calibrate, name="calibrate")


def _one_panel(marked: "marked_texts.MarkedTexts", source: "marked_texts.MarkedSource") -> str:
    """Return the signature of the panel that judged all marked texts."""
    signatures = {unstamped(text.row.signature) for text in marked.marked}
    if any(_CALIBRATED in signature for signature in signatures):
        raise ConfigError(
            f"{source.first} was judged with a calibration: name a run without one, or judge its"
            " texts again without --calibration"
        )
    if len({made_for.panel_digest(signature) for signature in signatures}) > 1:
        raise DataError(f"{source.first}: the marked texts were judged by different panels")
    return signatures.pop()


def _scored(
    marked: "marked_texts.MarkedTexts", task: str, aspect: str
) -> "tuple[marked_texts.JudgedText, ...]":
    """Return the marked texts that the panel scored."""
    on_aspect = marked.on(task, aspect)
    return tuple(text for text in on_aspect if text.is_marked and text.row.score is not None)


def _too_few(
    marked: "marked_texts.MarkedTexts",
    by_aspect: "dict[tuple[str, str], tuple[marked_texts.JudgedText, ...]]",
) -> str:
    counts = ", ".join(f"{len(texts)} of {aspect}" for (_, aspect), texts in by_aspect.items())
    outcomes = Counter(
        text.row.outcome.value for text in marked.marked if text.row.outcome is not Outcome.SCORED
    )
    unscored = f" ({', '.join(f'{n} {name}' for name, n in outcomes.items())})" if outcomes else ""
    return (
        f"{marked.name}: {counts} are marked by people and scored by the panel{unscored}; an "
        f"aspect needs at least {findings.FEWEST}"
    )


def _can_fit(texts: "fitting.CalibrationTexts") -> bool:
    scores = {text.human for text in texts.texts if text.human is not None}
    return bool(texts.clean.any()) or len(scores) > 1


def _text(
    judged: "marked_texts.JudgedText", *, low: float, high: float, clean_from: float
) -> "fitting.TextOnAspect":
    row, scale = judged.row, judged.scale
    factor = (scale.high - scale.low) / (high - low)
    human = judged.human
    clean = None if human is None else human >= clean_from
    assert row.score is not None
    scoring = [seat for seat in row.seats if seat.score is not None]
    all_state = all(seat.error_probability is not None for seat in scoring)
    return fitting.TextOnAspect(
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


def _check_scale(
    judged: "Sequence[marked_texts.JudgedText]", *, low: float, high: float, is_named: bool
) -> None:
    given = [score for text in judged for score in text.people.values()]
    if not -math.inf < low < high < math.inf:
        raise ConfigError(
            f"people's scale goes from {low:g} to {high:g}: name the lower number first, as 0:1"
        )
    if given and not low <= min(given) <= max(given) <= high:
        hint = "" if is_named else "; name theirs by --people-scale, as 0:1"
        raise ConfigError(
            f"people's scores on {judged[0].row.aspect} go from {min(given):g} to {max(given):g},"
            f" which is not on the scale from {low:g} to {high:g}{hint}"
        )


def _unknown(judged: "marked_texts.JudgedText") -> Aspect:
    """Return an aspect of which the name and the scale alone are known."""
    task = Task(name=judged.row.task, description="")
    return Aspect(name=judged.row.aspect, task=task, definition="", kind="content", scale=Scale())


def _judge(signature: str) -> str:
    """Return the name of the judge that a signature is of."""
    return signature.partition("|")[0]


def _seats(marked: "marked_texts.MarkedTexts") -> tuple[str, ...]:
    """Return the seats of the panel; a cascade did not ask all of them on each text."""
    seats = (seat for text in marked.marked for seat in text.row.seats)
    return made_for.signed_seats({seat.judge: seat.signature for seat in seats})


def _notes(
    marked: "marked_texts.MarkedTexts",
    by_aspect: "dict[tuple[str, str], tuple[marked_texts.JudgedText, ...]]",
) -> Iterator[str]:
    yield from marked.notes(of_marked=True)
    for (task, aspect), texts in by_aspect.items():
        if len(texts) < findings.FEWEST:
            needed = f"needs at least {findings.FEWEST}"
            yield f"{aspect} is left out: it has {len(texts)} texts and {needed}"
        yield from _silent(marked.on(task, aspect), aspect)


def _silent(judged: "Sequence[marked_texts.JudgedText]", aspect: str) -> Iterator[str]:
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
