"""Tables: the findings of an exam of repair as they are read, and as values for programs."""

from collections.abc import Callable, Iterable, Iterator

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Entry,
    Paragraph,
    Report,
    Section,
    Table,
    apart,
    between,
    code,
    figure,
    left,
    line,
    prose,
    right,
    table_of,
)
from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.studies.card import (
    NOT_NEGATIVE,
    SHARE,
    Measure,
    Range,
    Ranges,
    measured,
)
from spanjury.orchestration.studies.repair.attempts import DELETION, REPAIR
from spanjury.orchestration.studies.repair.exam import ExamResult, Finding, Findings, Mean, cautions
from spanjury.stats.proportions import Proportion

_Entries = Callable[[Finding], Iterator[Entry]]
_SHARE, _SIGNED, _SCORE = ".3f", "+.2f", ".2f"
_READING = (
    "*Removed* is the share of the planted errors of which at most half of the wrong words are "
    "left; *restored* is the share of the planted errors that read as before the damage. *Right "
    "words changed* is the share of the undamaged words that were changed. *Replaced and marked* "
    "is the share of the replaced passages that the examiner marks as errors; *new errors* is the "
    "number of errors per text in passages that it did not mark before, and *inventions* is the "
    "number of inserted names and numbers per text that are neither in the text nor in its source. "
    "*Gain* is the examiner's score after the repair minus its score before; *to gain* is its "
    "score of the clean text minus its score before. **Change nothing** and **delete every span** "
    "need no model: a repair is worth only what it does better than both. Intervals are over "
    "sources."
)


def repair_report(result: ExamResult, *, data: str, recipe: str) -> Report:
    """Return `result` as a report; a terminal shows what was done and the scores."""
    findings = result.findings
    sentences = [*cautions(findings)]
    by_condition = table_of(
        (left("damage", each.name), *_done(each), *apart("gain", each.gain, _SIGNED))
        for each in findings.of("condition", arm=REPAIR)
    )
    ends = table_of(
        (
            left("the loop ended", end.replace("_", " ")),
            right("damaged texts", damaged),
            right("clean texts", clean),
        )
        for end, (damaged, clean) in findings.stopped.items()
    )
    return Report(
        title="Repair",
        answer=_answer(findings),
        facts=[
            prose("{} texts of {}, damaged by {}", findings.texts, code(data), code(recipe)),
            prose("writer: {}", code(result.writer)),
            *(
                prose(f"{role}, {{}}: {{}}", name, code(seat))
                for role, panel in (("panel", result.examinee), ("examiner", result.examiner))
                for name, seat in panel.seats.items()
            ),
        ],
        sections=[
            Section("Beware", [Bullets(sentences)], only="page"),
            Paragraph(prose(_READING), only="page"),
            Section(
                "Damaged texts",
                [
                    _by_arm("What became of the damage", findings.of("damaged"), _done),
                    _by_arm("What the examiner says", findings.of("damaged"), _made),
                ],
            ),
            Section(
                "Clean texts",
                [_by_arm("Texts that were not changed", findings.of("clean"), _spared)],
            ),
            Section("By damage", [by_condition], only="page"),
            Section("Ends of the loop", [ends], only="page"),
            Paragraph(_short_reading(findings), only="terminal"),
            Bullets(sentences, tone="caution", only="terminal"),
        ],
    )


def _answer(findings: Findings) -> str:
    """Say how much damage the repair removes at which price, beside deleting what is marked."""
    repair, deletion = (findings.overall(arm) for arm in (REPAIR, DELETION))
    return (
        f"The repair removes {figure(repair.removed.value, '.0%')} of the planted errors and"
        f" changes {figure(repair.changed.value, '.0%')} of the right words; deleting every span"
        f" removes {figure(deletion.removed.value, '.0%')} and changes"
        f" {figure(deletion.changed.value, '.0%')}."
    )


def _by_arm(title: str, findings: Iterable[Finding], entries: _Entries) -> Table:
    """Tabulate each way of repairing; those that need no model stand back."""
    lines = (
        line(left("", each.arm, wrap=False), *entries(each), faint=each.arm != REPAIR)
        for each in findings
    )
    return table_of(lines, title=title)


def _done(finding: Finding) -> Iterator[Entry]:
    yield right("texts", finding.texts)
    yield from apart("removed", finding.removed, _SHARE)
    yield from apart("restored", finding.restored, _SHARE, ends_only="page")
    yield from apart("right words changed", finding.changed, _SHARE)


def _made(finding: Finding) -> Iterator[Entry]:
    yield from apart("replaced and marked", finding.marked, _SHARE, only="page")
    yield from apart("new errors", finding.new_errors, _SCORE, ends_only="page")
    yield right("inventions", finding.inventions.value, _SCORE, only="page")
    yield right("before", finding.before.value, _SCORE)
    yield right("after", finding.after.value, _SCORE)
    yield from apart("gain", finding.gain, _SIGNED)
    yield right("to gain", finding.gap.value, _SIGNED)
    yield right("covered", finding.covered.value, _SHARE)


def _spared(finding: Finding) -> Iterator[Entry]:
    yield right("texts", finding.texts)
    yield from apart("altered", finding.altered, _SHARE)
    yield from apart("words changed", finding.changed, _SHARE, ends_only="page")
    yield right("new errors", finding.new_errors.value, _SCORE)
    yield from apart("gain", finding.gain, _SIGNED)


def _short_reading(findings: Findings) -> str:
    net = findings.net_gain
    return (
        "Removed: at most half of the wrong words are left. Gain: the examiner's score after the "
        "repair minus its score before. Gain minus that of deleting every span: "
        f"{Cell(net.value, _SIGNED).figure} ({between(net.low, net.high, _SIGNED)})."
    )


_MEASURES = {
    "removed": "share of the planted errors of which at most half of the wrong words are left",
    "restored": "share of the planted errors that read as before the damage",
    "changed": "share of the undamaged words of damaged texts that were changed",
    "marked": "share of the replaced passages that the examiner marks as errors",
    "covered": "share of the damaged texts that the examiner scored before and after",
    "new_errors": "errors per text in passages that the examiner did not mark before",
    "inventions": "inserted names and numbers per text that occur in no source",
    "gain": "the examiner's score after minus that before, in steps of its scale",
    "removed_by_deletion": "share removed if every span is deleted",
    "net_gain": "the gain minus that of deleting every span",
    "clean_altered": "share of the clean texts that were altered",
    "clean_changed": "share of the words of clean texts changed",
    "clean_gain": "the gain on clean texts",
}
"""Name -> what it is; all but the last five are fields of the finding over all damaged texts."""
_GAINS = ("gain", "net_gain", "clean_gain")
_PER_TEXT = ("new_errors", "inventions")
_RANGES = {
    **dict.fromkeys(_MEASURES, SHARE),
    **dict.fromkeys(_GAINS, Range()),
    **dict.fromkeys(_PER_TEXT, NOT_NEGATIVE),
}
RANGES: Ranges = {f"repair.{name}": values for name, values in _RANGES.items()}
"""Name of a measure -> its range."""


def findings_json(result: ExamResult) -> dict[str, object]:
    """Return `result` as objects, lists, strings, numbers and nulls, named by field."""
    findings = result.findings
    return {
        "versions": versions(),
        "judge": plain(result.examinee),
        "examiner": plain(result.examiner),
        "writer": result.writer,
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


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of the repair, and of what it is held against."""
    overall = findings.overall()
    (clean,) = findings.of("clean", arm=REPAIR)
    others: dict[str, Proportion | Mean] = {
        "removed_by_deletion": findings.overall(DELETION).removed,
        "net_gain": findings.net_gain,
        "clean_altered": clean.altered,
        "clean_changed": clean.changed,
        "clean_gain": clean.gain,
    }
    figures = (others.get(name) or getattr(overall, name) for name in _MEASURES)
    return tuple(
        measured(
            f"repair.{name}",
            figure,
            says=says,
            count=figure.texts if isinstance(figure, Mean) else figure.trials,
        )
        for (name, says), figure in zip(_MEASURES.items(), figures, strict=True)
    )
