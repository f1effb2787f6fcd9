"""Training data from damage alone: clean texts, struck where we know, make their own reports.

No teacher is asked. What a perturbation harms for certain is an error on an aspect, what it
spares for certain is none; where it may do either, that aspect of the text is not used. The
score follows from the spans by the faithful map.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from spanjury.judges.core import Aspect, PerturbationError, Report, gravest
from spanjury.judges.llm.short_prompt import MAX_ERRORS
from spanjury.judges.scoring import SpanMap
from spanjury.orchestration.studies.distillation.damage_spans import damage_spans
from spanjury.orchestration.studies.distillation.damaged_text import DamagedText, Harm, damaged_by
from spanjury.orchestration.studies.distillation.examples import Example
from spanjury.orchestration.studies.distillation.rows import Row
from spanjury.orchestration.studies.distillation.sampling import least_used
from spanjury.orchestration.studies.distillation.targets import Targets
from spanjury.perturbations.perturbation import Case, generator_for

_OTHERS = 8
"""Texts for other inputs that a rule may take from, of the same task and the same split."""
_TRIES = 4
"""Harms that are tried for each that is to strike: many find nothing to damage."""
_WRONG = "wrong"
"""Key of a segment's meta that holds a text which is known to be wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagePlan:
    """A plan by which texts are damaged.

    Raises `ValueError` if there is no harm, or a number is not positive.

    Parameters
    ----------
    texts
        How many damaged texts are made of each clean one.
    most
        The most harms that strike one text.
    per_output
        How many aspects of each text are used: of a damaged one those that are harmed, and
        one that is not where they are fewer; each aspect as often as the others.
    targets
        Makes the examples; with the seed of all that is drawn.
    """

    harms: tuple[Harm, ...]
    recipe: str
    texts: int = 4
    most: int = 3
    per_output: int = 3
    targets: Targets = field(default_factory=Targets)
    span_map: SpanMap = field(default_factory=SpanMap)

    def __post_init__(self) -> None:
        if not self.harms or min(self.texts, self.most, self.per_output) < 1:
            raise ValueError(f"not a plan: {self!r}")

    def can_harm(self, aspect: Aspect) -> bool:
        """Say whether any harm is one to `aspect`; of others only "no error" would be learnt."""
        return any(_harms(harm, aspect) for harm in self.harms)


def damage_examples(
    rows: Sequence[Row], aspects: Mapping[str, Sequence[Aspect]], plan: DamagePlan
) -> Iterator[Example]:
    """Make examples of clean texts: each as it is, then damaged.

    Raise `PerturbationError` if a rule fails, naming the text.

    Parameters
    ----------
    plan
        What is done to them. What is done to a text depends on its data set and id, and for
        some rules on texts of its split; what is asked of it, on the texts before it.
    """
    used: Counter[Hashable] = Counter()
    for row, others in zip(rows, _others(rows), strict=True):
        fit = [
            aspect
            for aspect in aspects[row.segment.task]
            if not aspect.lacking(row.segment.inputs) and plan.can_harm(aspect)
        ]
        yield from _CleanText(plan=plan, row=row, used=used).examples(others, fit)


@dataclass(slots=True, kw_only=True)
class _CleanText:
    """One clean text, of which examples are made."""

    plan: DamagePlan
    row: Row
    used: Counter[Hashable]
    rng: Generator = field(init=False)
    reports: dict[Hashable, Report] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = f"distil {self.row.dataset}"
        self.rng = generator_for(self.plan.targets.seed, name, self.row.segment.segment_id)

    def examples(self, others: tuple[str, ...], aspects: Sequence[Aspect]) -> Iterator[Example]:
        seen: set[str] = set()
        for damaged in self._texts(others):
            if damaged.text in seen:
                continue
            seen.add(damaged.text)
            for aspect in self._drawn(damaged, aspects):
                yield self._example(damaged, aspect)

    def _texts(self, others: tuple[str, ...]) -> Iterator[DamagedText]:
        """Yield the clean text, then the damaged ones; some of these may be alike."""
        segment, plan = self.row.segment, self.plan
        wrong = segment.meta.get(_WRONG)
        case = Case(
            text=segment.output,
            inputs=segment.inputs,
            others=others,
            wrong=wrong if isinstance(wrong, str) else "",
        )
        yield DamagedText(text=case.text)
        for _ in range(plan.texts):
            most = int(self.rng.integers(1, plan.most + 1))
            order = self.rng.permutation(len(plan.harms))[: most * _TRIES].tolist()
            harms = [plan.harms[number] for number in order]
            try:
                yield damaged_by(case, harms, self.rng, most=most)
            except PerturbationError as error:
                named = f"{self.row.source}: {segment.segment_id!r}"
                raise PerturbationError(f"{named} cannot be damaged: {error}") from error

    def _drawn(self, damaged: DamagedText, aspects: Sequence[Aspect]) -> list[Aspect]:
        """Draw aspects for which it is known whether each strike is an error."""
        harms = damaged.harms
        certain = [a for a in aspects if all(_is_certain(harm, a) for harm in harms)]
        harmed = [a for a in certain if any(_harms(harm, a) for harm in harms)]
        spared = [a for a in certain if not any(_harms(harm, a) for harm in harms)]
        most = self.plan.per_output
        drawn = self._least_used(harmed, k=most, is_harmed=True)
        if harms:  # a clean text has enough to say of what is no error
            most = min(most, len(drawn) + 1)
        return drawn + self._least_used(spared, k=most - len(drawn), is_harmed=False)

    def _least_used(self, aspects: Sequence[Aspect], *, k: int, is_harmed: bool) -> list[Aspect]:
        def key(aspect: Aspect) -> Hashable:
            return aspect.task.name, aspect.name, is_harmed

        return least_used(aspects, self.used, self.rng, k=k, key=key)

    def _example(self, damaged: DamagedText, aspect: Aspect) -> Example:
        return self.plan.targets.example(
            self.row,
            aspect,
            report=self._report(damaged, aspect),
            output=damaged.text,
            damages=tuple(f"{self.plan.recipe}: {harm.name}" for harm in damaged.harms),
        )

    def _report(self, damaged: DamagedText, aspect: Aspect) -> Report:
        """Mark what harms the aspect; aspects for which that is the same share a report."""
        harms = tuple(harm for harm in damaged.harms if _harms(harm, aspect))
        key = (damaged.text, harms, aspect.kind, aspect.scale)
        if key not in self.reports:
            strikes = [strike for strike in damaged.strikes if strike.harm in harms]
            spans = gravest(damage_spans(damaged, strikes, self.rng), limit=MAX_ERRORS)
            score: float | None = aspect.scale.high  # what any map gives for no errors, at once
            if spans:
                score = self.plan.span_map.score(damaged.text, spans, aspect=aspect)
            assert score is not None, "damage is quoted from the text, or omitted something"
            self.reports[key] = Report(score=score, spans=spans)
        return self.reports[key]


def _others(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield for each row texts for other inputs, none of another split."""
    alike: defaultdict[Hashable, list[Row]] = defaultdict(list)
    starts = []
    for row in rows:
        beside = alike[row.segment.task, row.split]
        starts.append((beside, len(beside)))
        beside.append(row)
    for row, (beside, start) in zip(rows, starts, strict=True):
        near = (*beside[start + 1 : start + 1 + 2 * _OTHERS], *beside[: min(start, 2 * _OTHERS)])
        outputs = [other.segment.output for other in near if other.input_id != row.input_id]
        yield tuple(outputs[:_OTHERS])


def _harms(harm: Harm, aspect: Aspect) -> bool:
    return harm.perturbation.effect_on(aspect.name) == "falls"


def _is_certain(harm: Harm, aspect: Aspect) -> bool:
    return harm.perturbation.effect_on(aspect.name) in {"falls", "unchanged"}
