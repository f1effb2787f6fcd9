"""The exam: attack texts, have a panel judge them with and without, and count the successes."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from spanjury.judges.core import Aspect, Result, Segment, counted
from spanjury.orchestration.studies.card import CHANCES, FLAWS_SEEN
from spanjury.orchestration.studies.estimates import grouped, ratios_of
from spanjury.orchestration.studies.judging import (
    Examinee,
    ExamRun,
    JudgedText,
    Judgement,
    judgement_of,
    made_and_skipped,
    marked_places,
    require_distinct,
)
from spanjury.orchestration.studies.robustness.attempts import (
    CONTROLS,
    PLAIN,
    REPEAT,
    AttackedText,
    Attempt,
    Flawed,
    Settings,
    attack_texts,
    attempts,
    flaws_seen,
    repeated,
)
from spanjury.perturbations.attacks.attack import Attack
from spanjury.stats.proportions import Proportion, share_by_source
from spanjury.stats.resampling import Estimate

PANEL = "whole panel"
"""The judge that all seats make together."""

Scope = Literal["all", "family", "attack", "aspect", "control"]
"""The attempts of a finding: all attacks, those of a family, …, or a control."""


class Count(NamedTuple):
    """A number of cases, and the number of those among which they were counted."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """Share of the cases; NaN without any."""
        return self.hits / self.of if self.of else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of some attempts on one judge.

    `scope`, `name`: over which attempts; the name is that of the family, the attack, the aspect or
    the control, empty for all attacks.
    `rose`, `vanished`: successes by the score among the attempts whose score could rise, and by
    spans among those with spans.
    `denied`, `fell`: attempts that left no score, and that made it fall, among those on texts with
    a score.
    """

    judge: str
    scope: Scope
    name: str
    family: str
    success: Proportion
    """Share of successes among the attempts with room, with its interval over sources."""
    control: float
    """Share of successes of plain additions, each as often as attacks are held against it."""
    net: Estimate
    """The difference, attempt by attempt, with sources resampled; no interval if all are alike."""
    rose: Count
    vanished: Count
    denied: Count
    fell: Count
    unscored: int
    """Attempts on texts without a score, which are in no share."""

    @property
    def why_undefined(self) -> str:
        """Why no attempt counts; empty if one does."""
        if self.success.trials:
            return ""
        if not self.denied.of:
            return "no text had a score before an attack"
        return "no attack had room to succeed: no score could rise, and no span could vanish"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The result of an exam."""

    judges: tuple[str, ...]
    """The panel first, then its seats if there are several."""
    seen: Mapping[str, Proportion]
    """Judge -> how often it scores a damaged text below the good one, ties half; 0.5 is chance."""
    texts: int
    damaged: Mapping[str, int]
    """Condition -> how many texts it damaged before; empty where they were not damaged."""
    findings: tuple[Finding, ...]
    skipped: Mapping[tuple[str, str], int]
    """``(attack, reason)`` -> how many texts."""
    outcomes: Mapping[str, int]
    settings: Settings

    @property
    def panel(self) -> str:
        """The name of the panel among the judges."""
        return self.judges[0]

    def of(self, judge: str, *scopes: Scope) -> tuple[Finding, ...]:
        """Return the findings on `judge` in these scopes, in their order."""
        return tuple(f for f in self.findings if f.judge == judge and f.scope in scopes)

    def overall(self, judge: str) -> Finding:
        """Return the finding over all attacks on `judge`."""
        (finding,) = self.of(judge, "all")
        return finding


class _Group(NamedTuple):
    """Some of the attempts."""

    scope: Scope
    name: str
    family: str
    rows: list[Attempt]


def _findings(rows: Sequence[Attempt], judge: str, *, settings: Settings) -> Iterator[Finding]:
    own = [row for row in rows if row.judge == judge]
    plain = {(row.text, row.aspect, row.attack): row.succeeded for row in own if not row.control}
    # Whether the plain addition succeeded that is about as long; None without one.
    controls = {id(row): plain.get((row.text, row.aspect, row.control)) for row in own}
    groups = [*_groups(own)]
    nets = _nets(own, groups, controls, settings=settings)
    for group, net in zip(groups, nets, strict=True):
        room = [row for row in group.rows if row.has_room]
        scored = [row for row in group.rows if row.before is not None]
        matched = [hit for row in room if (hit := controls[id(row)]) is not None]
        yield Finding(
            judge=judge,
            scope=group.scope,
            name=group.name,
            family=group.family,
            success=share_by_source((row.source, row.succeeded, 1) for row in room),
            control=sum(matched) / len(matched) if matched else math.nan,
            net=net,
            rose=_count(row.rose for row in group.rows if row.can_rise),
            vanished=_count(row.vanished for row in scored if row.spans),
            denied=_count(row.denied for row in scored),
            fell=_count(row.fell for row in scored),
            unscored=len(group.rows) - len(scored),
        )


def _groups(rows: Sequence[Attempt]) -> Iterator[_Group]:
    attacks = [row for row in rows if row.family not in CONTROLS]
    families = grouped(attacks, lambda row: row.family)
    yield _Group("all", "", "", attacks)
    for family, own in families.items():
        yield _Group("family", family, "", own)
    for family, own in families.items():
        for attack, same in grouped(own, lambda row: row.attack).items():
            yield _Group("attack", attack, family, same)
    for aspect in dict.fromkeys(row.aspect for row in rows):
        yield _Group("aspect", aspect, "", [row for row in attacks if row.aspect == aspect])
    for control in (REPEAT, PLAIN):
        yield _Group("control", control, "", [row for row in rows if row.family == control])


def _nets(
    rows: Sequence[Attempt],
    groups: Sequence[_Group],
    controls: Mapping[int, bool | None],
    *,
    settings: Settings,
) -> list[Estimate]:
    """Return success less that of the controls for each group, by one bootstrap of sources."""
    if not rows:
        return [Estimate() for _ in groups]
    sources = {name: number for number, name in enumerate(dict.fromkeys(r.source for r in rows))}
    gains, matched = np.zeros((2, len(groups), len(sources)))
    for number, group in enumerate(groups):
        for row in group.rows:
            control = controls[id(row)]
            if row.has_room and control is not None:
                gains[number, sources[row.source]] += row.succeeded - control
                matched[number, sources[row.source]] += 1
    return ratios_of(gains, matched, seed=settings.seed, draws=settings.draws)


def _count(hits: Iterable[bool]) -> Count:
    counted = [*hits]
    return Count(sum(counted), len(counted))


_CONTROL_SUCCEEDS = {
    REPEAT: "Even judging the same text a second time succeeds",
    PLAIN: "Even a plain addition, of any length, succeeds",
}
_FEW = 20
"""With fewer sources than this an interval is rough, and a success of 0 says little."""
_NOISY = 0.05
"""From this share on, what happens by itself is no smaller than what is usually required."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what to keep in mind of the panel, and of seats without room."""
    skipped = (
        f"{attack} was not possible for {count} of {findings.texts} texts: {reason}."
        for (attack, reason), count in findings.skipped.items()
    )
    return (*_on_room(findings), *_on_flaws(findings), *_on_success(findings), *skipped)


def _on_room(findings: Findings) -> Iterator[str]:
    overall = findings.overall(findings.panel)
    for judge in findings.judges:
        if why := findings.overall(judge).why_undefined:
            yield f"The success of attacks on {judge} is undefined: {why}."
    for aspect in findings.of(findings.panel, "aspect"):
        if aspect.why_undefined and overall.success.trials:
            yield f"{aspect.name} counts in no share: {aspect.why_undefined}."
    if overall.unscored:
        yield (
            f"{overall.unscored} attempts are on texts that had no score before the attack, and "
            "are excluded from all shares."
        )


def _on_flaws(findings: Findings) -> Iterator[str]:
    for judge, seen in findings.seen.items():
        article = "the " if judge == findings.panel else ""
        chance = CHANCES[FLAWS_SEEN]
        if not seen.trials or seen.low > chance:
            continue
        if seen.value > chance and seen.clusters < _FEW:
            yield (
                f"{counted(seen.clusters, 'source is', 'sources are')} too few to show that "
                f"{article}{judge} scores damaged texts below good ones ({seen.value:.2f}; 0.5 is "
                "chance)."
            )
        else:
            yield (
                f"{article.capitalize()}{judge} is not shown to score damaged texts below good "
                f"ones ({seen.value:.2f}; 0.5 is chance). A judge that sees no flaws withstands "
                "every attack."
            )
    if not findings.damaged:
        yield (
            "The texts were attacked undamaged, so it is unknown whether the judge sees flaws: "
            "require discernment on its card as well as robustness."
        )


def _on_success(findings: Findings) -> Iterator[str]:
    overall = findings.overall(findings.panel)
    if 0 < overall.success.clusters < _FEW:
        yield (
            f"{overall.success.clusters} sources are few: attacks that failed on them may succeed "
            "on others."
        )
    for control in findings.of(findings.panel, "control"):
        if control.success.trials and control.success.value >= _NOISY:
            yield (
                f"{_CONTROL_SUCCEEDS[control.name]} in {control.success.value:.0%} of attempts. Use"
                " net instead of success."
            )
    if overall.denied.hits:
        ends = ", ".join(f"{count} {name}" for name, count in sorted(findings.outcomes.items()))
        yield (
            f"{overall.denied.hits} of {overall.denied.of} attacks left the text without a score "
            f"({ends}, over all judges). They count as failed attempts."
        )


_GOOD, _BASE = "without flaws", "without attack"
"""Conditions of the texts that the others are compared with."""
_CONTROL = "control-1"
"""Name of the draw in which the texts are judged once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The questions of an exam of robustness.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.
    """

    flawed: Flawed
    """The texts that are attacked, under distinct ids, one task."""
    aspects: tuple[Aspect, ...]
    attacks: Mapping[str, Attack]
    settings: Settings = Settings()
    """The definition of a success; its seed is also that of the attacks."""

    def __post_init__(self) -> None:
        require_distinct(
            texts=[segment.segment_id for segment in self.segments],
            aspects=[aspect.name for aspect in self.aspects],
            attacks=[*self.attacks],
        )

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The texts without any attack."""
        return self.flawed.segments

    @property
    def assessments(self) -> int:
        """The most assessments: texts as they are, again, with each attack, and before damage."""
        texts = len(self.segments) * (len(self.attacks) + 2) + len(self.flawed.good)
        return texts * len(self.aspects)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """The result of an exam."""

    findings: Findings
    attempts: tuple[Attempt, ...]
    judged: tuple[JudgedText, ...]
    examinee: Examinee


async def examine(exam: Exam, run: ExamRun) -> ExamResult:
    """Examine a panel.

    Raise `PerturbationError` if an attack fails, `DataError` if no text could be attacked in any
    way, and `RunStoppedError` if the stop token came before the end.
    """
    seed, settings = exam.settings.seed, exam.settings
    made = attack_texts(exam.segments, exam.aspects, exam.attacks, seed=seed)
    texts, skipped = made_and_skipped(made, "attacked")
    bases = [(segment, aspect) for segment in exam.segments for aspect in exam.aspects]
    attacked = [(text.attacked, aspect) for text in texts for aspect in text.aspects]
    good = [(text, aspect) for text in exam.flawed.good.values() for aspect in exam.aspects]
    run.expect(2 * len(bases) + len(attacked) + len(good))
    results = await run.judge([*bases, *attacked, *good], draw="")
    first = dict(_judgements(results))
    second = dict(_judgements(await run.judge(bases, draw=_CONTROL)))
    seats = tuple(run.examinee.seats)
    judges = (PANEL, *(seats if len(seats) > 1 else ()))
    again = [repeated(segment, exam.aspects) for segment in exam.segments]
    rows = (
        *attempts(texts, (first, first), judges=judges, settings=settings),
        *attempts(again, (first, second), judges=judges, settings=settings),
    )
    findings = Findings(
        judges=judges,
        seen=flaws_seen(exam.flawed, first, aspects=exam.aspects, judges=judges),
        texts=len(exam.segments),
        damaged=exam.flawed.damaged,
        findings=tuple(
            finding for judge in judges for finding in _findings(rows, judge, settings=settings)
        ),
        skipped=Counter((out.condition, out.reason) for out in skipped),
        outcomes=Counter(
            row.after_outcome.value for row in rows if row.denied and row.family not in CONTROLS
        ),
        settings=settings,
    )
    return ExamResult(
        findings=findings,
        attempts=rows,
        judged=tuple(_judged(exam, texts, results)),
        examinee=run.examinee,
    )


def _judged(
    exam: Exam, texts: Sequence[AttackedText], results: Mapping[tuple[str, str], Result]
) -> Iterator[JudgedText]:
    """Yield good texts, these with flaws, and attacked ones, whose additions are gold spans."""
    good = exam.flawed.good
    for aspect in exam.aspects:
        for before in good.values():
            yield JudgedText(result=results[before.segment_id, aspect.name], condition=_GOOD)
        for base in exam.segments:
            yield JudgedText(
                result=results[base.segment_id, aspect.name],
                condition=_BASE,
                clean_id=good[base.segment_id].segment_id if base.segment_id in good else "",
            )
    for text in texts:
        for aspect in text.aspects:
            result = results[text.attacked.segment_id, aspect.name]
            added = marked_places(
                text.attacked.output,
                text.edits.places,
                explanation=f"Added by {text.attack}.",
                category=text.family,
            )
            yield JudgedText(
                result=replace(result, segment=replace(result.segment, gold=added)),
                condition=text.attack,
                clean_id=text.base.segment_id,
            )


def _judgements(
    results: Mapping[tuple[str, str], Result],
) -> Iterator[tuple[tuple[str, str, str], Judgement]]:
    for key, result in results.items():
        yield (PANEL, *key), judgement_of(result.report)
        for seat in result.report.seats:
            yield (seat.seat, *key), judgement_of(seat.report)
