"""The targets of training: replies due on texts, from panels or known damage; balanced samples.

Source for panels: Kartáč et al. (2025), OpeNLGauge, sections 4 and 5.1. The panel sets outlier
seats aside before it consolidates; its score keeps them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from numpy.random import Generator

from spanjury.judges.core import Aspect, Report, Result, gravest
from spanjury.judges.llm.percent import Reading
from spanjury.judges.llm.short_prompt import MAX_ERRORS, messages_for
from spanjury.judges.llm.verdict_first import verdict_target
from spanjury.judges.scoring import names_its_errors
from spanjury.orchestration.studies.distillation.rows import Row
from spanjury.orchestration.studies.distillation.training_set import Example, Licences, Provenance
from spanjury.perturbations.perturbation import generator_for

T = TypeVar("T")


def least_used(
    choices: Sequence[T],
    used: Counter[Hashable],
    rng: Generator,
    *,
    k: int,
    key: Callable[[T], Hashable],
) -> list[T]:
    """Draw up to `k` of `choices`, those with the least used keys first, and count them in.

    Within one draw a key comes again only when every other one was drawn as often.
    """
    lots = rng.random(len(choices)).tolist()
    before: Counter[Hashable] = Counter()
    ranked: list[tuple[int, int, float, int]] = []
    for index in sorted(range(len(choices)), key=lots.__getitem__):
        group = key(choices[index])
        ranked.append((before[group], used[group], lots[index], index))
        before[group] += 1
    drawn = [choices[index] for *_, index in sorted(ranked)[:k]]
    used.update(map(key, drawn))
    return drawn


def sampled(
    rows: Sequence[Row],
    aspects: Mapping[str, Sequence[Aspect]],
    *,
    systems: int,
    per_output: int,
    seed: int,
) -> Iterator[tuple[Row, Aspect]]:
    """Draw outputs for each input, and aspects for each output.

    The outputs are of `systems` systems for each input, balanced over all of them, and come input
    by input in the order of the data. Each is paired with `per_output` aspects, balanced over all
    of the task. An aspect that needs an input which a row lacks is skipped.

    Source: Kartáč et al. (2025), OpeNLGauge, section 5.1.
    """
    rng = generator_for(seed, "sampling", "")
    used: Counter[Hashable] = Counter()
    by_input: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_input[row.input_id].append(row)
    for outputs in by_input.values():
        for row in least_used(
            outputs,
            used,
            rng,
            k=systems,
            key=lambda row: ("system", row.dataset, row.segment.system),
        ):
            fit = [a for a in aspects[row.segment.task] if not a.lacking(row.segment.inputs)]
            for aspect in least_used(
                fit,
                used,
                rng,
                k=per_output,
                key=lambda aspect: ("aspect", aspect.task.name, aspect.name),
            ):
                yield row, aspect


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The common ground of all examples of a training set, from which each is made."""

    seed: int = 1
    reading: Reading = "stretched"
    teachers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Judge or model of the panel -> licence of what it says; empty for damage."""

    def example(
        self,
        row: Row,
        aspect: Aspect,
        *,
        report: Report,
        output: str | None = None,
        panel: str = "",
        damages: tuple[str, ...] = (),
    ) -> Example:
        """Return the example with `report` for its target.

        `report`: the judgement that is due; it has a score.
        `output`: the text in place of the row's own, if that was damaged.
        """
        segment = row.segment if output is None else replace(row.segment, output=output)
        return Example(
            dataset=row.dataset,
            input_id=row.input_id,
            system=segment.system,
            inputs=segment.inputs,
            output=segment.output,
            task=aspect.task.name,
            aspect=aspect.name,
            definition=aspect.definition,
            report=report,
            messages=messages_for(segment, aspect, layout="verdict-first"),
            target=verdict_target(report, aspect.scale, reading=self.reading),
            split=row.split,
            provenance=Provenance(
                source=row.source,
                row=segment.segment_id,
                panel=panel,
                damages=damages,
                seed=self.seed,
            ),
            licences=Licences(source=row.licence, teachers=self.teachers),
            labels=aspect.scale.labels,
            reading=self.reading,
        )

    def of_panel(self, row: Row, result: Result) -> Example | str:
        """Make an example of a panel's report on `row`, or return why it is of no use.

        A report that does not say why its score is not the best teaches to make scores up; a
        quotation that the text does not contain teaches to misquote, and is dropped.
        """
        made = result.report
        if made.score is None:
            return f"the panel gives no score: {made.outcome.value}"
        located = [replace(span, found_by=()) for span in made.spans if not span.hallucinated]
        report = Report(score=made.score, spans=gravest(located, limit=MAX_ERRORS))
        if not names_its_errors(report, aspect=result.aspect):
            return "the score is not the best, and no error in the text says why"
        return self.example(row, result.aspect, report=report, panel=made.signature)
