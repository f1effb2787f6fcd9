"""Findings: how often attacks succeed on each judge of a robustness exam; cautions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.card import CHANCES, FLAWS_SEEN
from spanjury.orchestration.studies.estimates import Estimate, numbered, ratios_of
from spanjury.orchestration.studies.robustness.attempts import (
    CONTROLS,
    PLAIN,
    REPEAT,
    Attempt,
    Settings,
)
from spanjury.perturbations.pairs import Skipped
from spanjury.stats.arrays import FloatArray
from spanjury.stats.proportions import Proportion, clustered_proportion

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreArrays:
    """The attempts on one judge; every array has the shape ``(attempts,)``.

    `scored`, `has_room`, `can_rise`, `has_spans`: whether there was a score without the attack;
    whether the attack could succeed; by the score; by spans.
    `succeeded`, `rose`, `vanished`, `denied`, `fell`: as in `Attempt`.
    """

    judge: str
    attacks: NDArray[np.str_]
    families: NDArray[np.str_]
    aspects: NDArray[np.str_]
    sources: NDArray[np.intp]
    """The number of the source of each text, from 0: attempts on one are not independent."""
    scored: BoolArray
    has_room: BoolArray
    can_rise: BoolArray
    has_spans: BoolArray
    succeeded: BoolArray
    rose: BoolArray
    vanished: BoolArray
    denied: BoolArray
    fell: BoolArray
    control: NDArray[np.float64]
    """1 or 0: whether the plain addition succeeded that is about as long; NaN without one."""


def collect_scores(rows: Sequence[Attempt], *, judge: str) -> ScoreArrays:
    """Put the attempts on `judge` into arrays."""
    own = [row for row in rows if row.judge == judge]
    plain = {(row.text, row.aspect, row.attack): row.succeeded for row in own if not row.control}
    matched = [plain.get((row.text, row.aspect, row.control)) for row in own]
    sources, _ = numbered([row.source for row in own])
    flags = {
        name: np.array([getattr(row, name) for row in own], dtype=bool)
        for name in ("has_room", "can_rise", "succeeded", "rose", "vanished", "denied", "fell")
    }
    scored = np.array([row.before is not None for row in own], dtype=bool)
    return ScoreArrays(
        judge=judge,
        attacks=np.array([row.attack for row in own], dtype=np.str_),
        families=np.array([row.family for row in own], dtype=np.str_),
        aspects=np.array([row.aspect for row in own], dtype=np.str_),
        sources=sources,
        scored=scored,
        has_spans=scored & np.array([row.spans > 0 for row in own], dtype=bool),
        control=np.array([np.nan if hit is None else hit for hit in matched], dtype=np.float64),
        **flags,
    )


PANEL = "whole panel"
"""The judge that all seats make together."""

Scope = Literal["all", "family", "attack", "aspect", "control"]
"""The attempts of a finding: all attacks, those of a family, …, or a control."""


class Count(NamedTuple):
    """A number of cases, and the number of those among which they were counted."""

    hits: int
    of: int


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


def findings_of(
    rows: Sequence[Attempt],
    *,
    judges: Sequence[str],
    seen: Mapping[str, Proportion],
    texts: int,
    damaged: Mapping[str, int],
    skipped: Sequence[Skipped],
    settings: Settings,
) -> Findings:
    """Evaluate attempts."""
    return Findings(
        judges=tuple(judges),
        seen=seen,
        texts=texts,
        damaged=damaged,
        findings=tuple(
            finding for judge in judges for finding in _findings(rows, judge, settings=settings)
        ),
        skipped=Counter((out.condition, out.reason) for out in skipped),
        outcomes=Counter(
            row.after_outcome.value for row in rows if row.denied and row.family not in CONTROLS
        ),
        settings=settings,
    )


class _Group(NamedTuple):
    """Some of the attempts."""

    scope: Scope
    name: str
    family: str
    among: BoolArray


def _findings(rows: Sequence[Attempt], judge: str, *, settings: Settings) -> Iterator[Finding]:
    score_arrays = collect_scores(rows, judge=judge)
    groups = [*_groups(score_arrays)]
    nets = _nets(score_arrays, [group.among for group in groups], settings=settings)
    for group, net in zip(groups, nets, strict=True):
        room = group.among & score_arrays.has_room
        scored = group.among & score_arrays.scored
        matched = score_arrays.control[room & ~np.isnan(score_arrays.control)]
        yield Finding(
            judge=judge,
            scope=group.scope,
            name=group.name,
            family=group.family,
            success=clustered_proportion(
                _by_source(score_arrays, room & score_arrays.succeeded),
                _by_source(score_arrays, room),
            ),
            control=float(matched.mean()) if matched.size else np.nan,
            net=net,
            rose=_count(score_arrays.rose, group.among & score_arrays.can_rise),
            vanished=_count(score_arrays.vanished, group.among & score_arrays.has_spans),
            denied=_count(score_arrays.denied, scored),
            fell=_count(score_arrays.fell, scored),
            unscored=int((group.among & ~score_arrays.scored).sum()),
        )


def _groups(score_arrays: ScoreArrays) -> Iterator[_Group]:
    attacking = ~np.isin(score_arrays.families, sorted(CONTROLS))
    yield _Group("all", "", "", attacking)
    families = dict.fromkeys(score_arrays.families[attacking].tolist())
    for family in families:
        yield _Group("family", family, "", score_arrays.families == family)
    pairs = zip(
        score_arrays.attacks[attacking].tolist(), score_arrays.families[attacking], strict=True
    )
    for attack, family in sorted(dict(pairs).items(), key=lambda p: [*families].index(p[1])):
        yield _Group("attack", attack, str(family), score_arrays.attacks == attack)
    for aspect in dict.fromkeys(score_arrays.aspects.tolist()):
        yield _Group("aspect", aspect, "", attacking & (score_arrays.aspects == aspect))
    for control in (REPEAT, PLAIN):
        yield _Group("control", control, "", score_arrays.families == control)


def _nets(
    score_arrays: ScoreArrays, groups: Sequence[BoolArray], *, settings: Settings
) -> list[Estimate]:
    """Return success less that of the controls for each group, by one bootstrap of sources."""
    if not score_arrays.sources.size:
        return [Estimate() for _ in groups]
    matched = score_arrays.has_room & ~np.isnan(score_arrays.control)
    gain: FloatArray = score_arrays.succeeded - np.nan_to_num(score_arrays.control)
    of = partial(_by_source, score_arrays)
    return ratios_of(
        np.stack([of(np.where(among & matched, gain, 0.0)) for among in groups]),
        np.stack([of(among & matched) for among in groups]),
        rng=np.random.default_rng(settings.seed),
        draws=settings.draws,
    )


def _by_source(score_arrays: ScoreArrays, values: BoolArray | FloatArray) -> FloatArray:
    """Sum `values` over the attempts on each source."""
    size = int(score_arrays.sources.max(initial=-1)) + 1
    sums = np.bincount(score_arrays.sources, weights=values.astype(np.float64), minlength=size)
    return sums.astype(np.float64)


def _count(such: BoolArray, among: BoolArray) -> Count:
    return Count(int((such & among).sum()), int(among.sum()))


_SAYS_NOTHING = "An addition that says nothing"
_FEW = 20
"""With fewer sources than this an interval is rough, and a success of 0 says little."""
_NOISY = 0.05
"""From this share on, what happens of itself is no smaller than what is demanded as a rule."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what to keep in mind of the panel, and of seats without room."""
    skipped = (
        f"{attack} could not be made of {count} of {findings.texts} texts: {reason}."
        for (attack, reason), count in findings.skipped.items()
    )
    return (*_on_room(findings), *_on_flaws(findings), *_on_success(findings), *skipped)


def _on_room(findings: Findings) -> Iterator[str]:
    overall = findings.overall(findings.panel)
    for judge in findings.judges:
        if not findings.overall(judge).success.trials:
            yield f"No attack had room to succeed on {judge}: its success is not defined."
    for aspect in findings.of(findings.panel, "aspect"):
        if not aspect.success.trials and overall.success.trials:
            yield f"On {aspect.name} no attack had room to succeed: it is in no share."
    if overall.unscored:
        yield (
            f"{overall.unscored} attempts are on texts without a score to begin with, "
            "and are in no share."
        )


def _on_flaws(findings: Findings) -> Iterator[str]:
    for judge, seen in findings.seen.items():
        if seen.trials and not seen.low > CHANCES[FLAWS_SEEN]:
            yield (
                f"{judge} is not shown to score damaged texts below good ones ({seen.value:.2f}, "
                "where 0.5 is chance): a judge that sees no flaw withstands every attack."
            )
    if not findings.damaged:
        yield (
            "The texts were attacked undamaged, so it is unknown whether the judge sees their "
            "flaws: require discernment on its card beside robustness."
        )


def _on_success(findings: Findings) -> Iterator[str]:
    overall = findings.overall(findings.panel)
    if 0 < overall.success.clusters < _FEW:
        yield (
            f"{overall.success.clusters} sources are few: attacks that did not succeed here may "
            "succeed on others."
        )
    for control in findings.of(findings.panel, "control"):
        if control.success.trials and control.success.value >= _NOISY:
            is_repeat = control.name == REPEAT
            yield (
                f"{'The same text judged a second time' if is_repeat else _SAYS_NOTHING} does"
                f" better in {control.success.value:.0%} of cases: read success net of the plain"
                " addition, not by itself."
            )
    if overall.denied.hits:
        ends = ", ".join(f"{count} {name}" for name, count in sorted(findings.outcomes.items()))
        yield (
            f"{overall.denied.hits} of {overall.denied.of} attacks left the text without a score "
            f"({ends}, over all judges). They count as attempts that did not succeed."
        )
