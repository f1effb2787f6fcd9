"""The findings of an exam of repair for programs: as plain values, and as measures for a card."""

from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.report.numbers import defined
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.repair.attempts import DELETION, REPAIR
from spanjury.orchestration.studies.repair.findings import Finding, Findings, Mean, cautions
from spanjury.stats.proportions import Proportion

_SHARES = {
    "removed": "share of the planted errors of which at most half of the wrong words stand",
    "restored": "share of the planted errors that read as before the damage",
    "changed": "share of the undamaged words of damaged texts that are not as they were",
    "marked": "share of the replaced places that the examiner marks as errors",
    "covered": "share of the damaged texts that the examiner scored before and after",
}
_MEANS = {
    "new_errors": "errors a text in places that the examiner did not mark before",
    "inventions": "names and numbers a text that were put in and stand in no source",
    "gain": "the examiner's score after less that before, in steps of its scale",
}
_OTHERS = (
    "removed_by_deletion",
    "net_gain",
    "clean_altered",
    "clean_changed",
    "clean_gain",
)


def findings_json(
    findings: Findings, *, examinee: Examinee, examiner: Examinee, writer: str
) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls, named by field."""
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "examiner": plain(examiner),
        "writer": writer,
        "settings": plain(findings.settings),
        "texts": findings.texts,
        "findings": plain(findings.findings),
        "net_gain": plain(findings.net_gain),
        "stopped": {
            end: {"damaged": damaged, "clean": clean}
            for end, (damaged, clean) in findings.stopped.items()
        },
        "skipped": [
            {"condition": condition, "reason": reason, "texts": count}
            for (condition, reason), count in findings.skipped.items()
        ],
        "shared": list(findings.shared),
        "cautions": list(cautions(findings)),
    }


def measure_names() -> tuple[str, ...]:
    """Return the names of the measures of an exam."""
    return tuple(f"repair.{name}" for name in (*_SHARES, *_MEANS, *_OTHERS))


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of the repair, and of what it is held against."""
    overall = findings.overall()
    deletion = findings.overall(DELETION).removed
    (clean,) = findings.of("clean", arm=REPAIR)
    return (
        *(_share(name, getattr(overall, name), says) for name, says in _SHARES.items()),
        *(_mean(name, getattr(overall, name), says) for name, says in _MEANS.items()),
        _share("removed_by_deletion", deletion, "share removed where every span is deleted"),
        _mean("net_gain", findings.net_gain, "the gain less that of deleting every span"),
        *_of_clean(clean),
    )


def _of_clean(clean: Finding) -> tuple[Measure, ...]:
    return (
        _share("clean_altered", clean.altered, "share of the clean texts that were altered"),
        _share("clean_changed", clean.changed, "share of the words of clean texts changed"),
        _mean("clean_gain", clean.gain, "the gain on clean texts"),
    )


def _share(name: str, share: Proportion, says: str) -> Measure:
    return Measure(
        name=f"repair.{name}",
        value=defined(share.value),
        says=says,
        count=share.trials,
        low=defined(share.low),
        high=defined(share.high),
    )


def _mean(name: str, mean: Mean, says: str) -> Measure:
    return Measure(
        name=f"repair.{name}",
        value=defined(mean.value),
        says=says,
        count=mean.texts,
        low=defined(mean.low),
        high=defined(mean.high),
    )
