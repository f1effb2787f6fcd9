"""A robustness exam's findings for programs: as plain values, and as measures for a card."""

from collections.abc import Iterable, Sequence

from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.report.numbers import defined
from spanjury.orchestration.studies.card import FLAWS_SEEN, Measure
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.robustness.attacked_texts import PLAIN, REPEAT
from spanjury.orchestration.studies.robustness.findings import Count, Finding, Findings, cautions
from spanjury.stats.proportions import Proportion

_SUCCESS = "robustness.attack_success"
_WEAKEST = "robustness.weakest_seat"
_CONTROLS = {
    REPEAT: "the same for texts that are judged a second time",
    PLAIN: "the same for additions that say nothing",
}


def findings_json(findings: Findings, *, examinee: Examinee) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls, named by field."""
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "settings": plain(findings.settings),
        "texts": findings.texts,
        "damaged": plain(findings.damaged),
        "flaws_seen": plain(findings.seen),
        "findings": plain(findings.findings),
        "skipped": [
            {"attack": attack, "reason": reason, "texts": count}
            for (attack, reason), count in findings.skipped.items()
        ],
        "outcomes": plain(findings.outcomes),
        "cautions": list(cautions(findings)),
    }


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of the panel, and the success on its weakest seat."""
    panel, *seats = findings.judges
    overall = findings.overall(panel)
    return (
        _success(
            overall,
            _SUCCESS,
            "share of attacks with room after which the score rises or spans vanish",
        ),
        _net(overall),
        *(
            _success(family, f"{_SUCCESS}.{family.name}", f"the same for the family {family.name}")
            for family in findings.of(panel, "family")
        ),
        _weakest([findings.overall(seat) for seat in seats or (panel,)]),
        *(
            _success(control, f"robustness.{control.name}", _CONTROLS[control.name])
            for control in findings.of(panel, "control")
        ),
        _seen(findings.seen[panel]),
        _share("denied", overall.denied, "that left no score"),
        _share("fell", overall.fell, "that made the score fall"),
    )


def measure_names(families: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the measures of an exam with attacks of these families."""
    return (
        _SUCCESS,
        "robustness.net_success",
        *(f"{_SUCCESS}.{family}" for family in dict.fromkeys(families)),
        _WEAKEST,
        *(f"robustness.{control}" for control in _CONTROLS),
        FLAWS_SEEN,
        "robustness.denied",
        "robustness.fell",
    )


def _seen(seen: Proportion) -> Measure:
    return Measure(
        name=FLAWS_SEEN,
        value=defined(seen.value),
        says="share of damaged texts that score below the good ones, ties half; 0.5 is chance",
        count=seen.trials // 2,
        low=defined(seen.low),
        high=defined(seen.high),
    )


def _success(finding: Finding, name: str, says: str) -> Measure:
    success = finding.success
    return Measure(
        name=name,
        value=defined(success.value),
        says=says,
        count=success.trials,
        low=defined(success.low),
        high=defined(success.high),
    )


def _net(finding: Finding) -> Measure:
    return Measure(
        name="robustness.net_success",
        value=defined(finding.net.value),
        says="success less that of plain additions about as long; -1 to 1",
        count=finding.success.trials,
        low=defined(finding.net.low),
        high=defined(finding.net.high),
    )


def _weakest(seats: Sequence[Finding]) -> Measure:
    """Return the success on the seat that attacks succeed on most often."""
    weakest = max(seats, key=lambda seat: (seat.success.trials > 0, seat.success.value))
    return _success(weakest, _WEAKEST, f"the same for the weakest seat: {weakest.judge}")


def _share(name: str, count: Count, says: str) -> Measure:
    return Measure(
        name=f"robustness.{name}",
        value=count.hits / count.of if count.of else None,
        says=f"share of attacks on texts with a score {says}",
        count=count.of,
    )
