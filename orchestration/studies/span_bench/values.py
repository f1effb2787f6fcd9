"""A bench's findings for programs: as plain values, and as measures for a card."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from spanjury.judges.core import ConfigError, choices_for
from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.studies.card import Gate, Measure, measured
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.span_bench.figures import FIGURES, SHORT_NAMES
from spanjury.orchestration.studies.span_bench.findings import Findings, SetFindings, cautions
from spanjury.orchestration.studies.span_bench.groups import Coverage

_OTHER = re.compile(r"[^\w.-]+")


def findings_json(findings: Findings, *, examinee: Examinee) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls, named by field."""
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "settings": plain(findings.settings),
        "figures": dict(FIGURES),
        "sets": plain(findings.sets),
        "cautions": list(cautions(findings)),
    }


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of the panel on every set, as ``characters.f1.SET``."""
    return tuple(measure for each in findings.sets for measure in _measures(each))


def measure_names(sets: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the measures of a bench on these sets."""
    return tuple(_name(figure, name) for name in sets for figure in FIGURES)


def gates_on(gate: Gate, sets: Sequence[str]) -> tuple[Gate, ...]:
    """Return what a demand means on each set: that of its name, or all where it names none.

    Raise `ConfigError` for a measure that the bench will not give; the message lists those that
    there are.
    """
    whole = {**SHORT_NAMES, **{figure: figure for figure in FIGURES}}
    if gate.name in whole:
        return tuple(replace(gate, name=_name(whole[gate.name], each)) for each in sets)
    of_one = {
        _name(name, each): _name(figure, each) for each in sets for name, figure in whole.items()
    }
    if gate.name not in of_one:
        choices = choices_for(gate.name, whole)
        raise ConfigError(
            f"no such measure {gate.name!r}; {choices}, each of every set, or of one, as"
            f" {_name('ece', sets[0])}"
        )
    return (replace(gate, name=of_one[gate.name]),)


def _name(figure: str, name: str) -> str:
    """Return the name of the measure of a set, in which a demand can name it."""
    return f"{figure}.{_OTHER.sub('-', name)}"


def _measures(findings: SetFindings) -> Iterator[Measure]:
    panel = findings.findings[0]
    for name, figure in panel.figures.items():
        yield measured(
            _name(name, findings.name),
            figure,
            says=FIGURES[name],
            count=answered(name, panel.coverage)[0],
        )


def answered(figure: str, coverage: Coverage) -> tuple[int, int]:
    """Return how many of the texts that a figure is about have an answer, and how many there are.

    Examples
    --------
    >>> counts = {"texts": (5, 7), "error_free": (2, 3), "faulty": (3, 3), "rated": (0, 0)}
    >>> answered("score.auroc", Coverage(marked=(4, 4), **counts))
    (5, 6)
    """
    match figure.split("."):
        case ["characters" | "words" | "places" | "spans", _]:
            return coverage.marked
        case ["people", _]:
            return coverage.rated
        case ["decision", "decided"]:
            return coverage.texts
        case [_, "error_free" | "false_alarms"]:
            return coverage.error_free
        case ["flagged", "faulty"] | ["unsure" | "faulty", "caught"] | [_, "vouched_misses"]:
            return coverage.faulty
        case _:
            (free, all_free), (faulty, all_faulty) = coverage.error_free, coverage.faulty
            return free + faulty, all_free + all_faulty
