"""The targets of training: texts, and replies due on them, from panels or known damage.

Source for panels: Kartáč et al. (2025), OpeNLGauge, sections 4 and 5.1. The panel sets outlier
seats aside before it consolidates; its score keeps them.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from numpy.random import Generator

from spanjury.judges.core import Aspect, ConfigError, DataError, Report, Result, Segment, gravest
from spanjury.judges.llm.distilled_form import MAX_ERRORS, Reading, messages_for, verdict_target
from spanjury.judges.scoring import names_its_errors
from spanjury.orchestration.studies.distillation.training_set import (
    Example,
    Licences,
    Provenance,
    Shares,
    Split,
    dealt,
    groups_of,
    input_keys,
    telling_keys,
)
from spanjury.orchestration.studies.estimates import grouped
from spanjury.perturbations.perturbation import generator_for

_LICENCE = ("licence", "license")
_DATASET = "dataset"
_NAMES_SHOWN = 3
OURS = "Apache-2.0"
"""Licence of reports that the rules of spanjury make."""

# As SPDX and data-set cards write them. What forbids commercial use or changes is not among
# them: whether it permits training is for a lawyer, and `accepted`, to say.
_PERMITS = re.compile(
    r"cc0|cc-?zero|public[ -]?domain|pddl|unlicense|wtfpl|0bsd|bsd(-[234]-clause)?|mit(-0)?|isc"
    r"|apache(-?2\.0)?|odc-by|odbl|dl-de-by|etalab|zlib|cc-by(-sa)?|cdla-(permissive|sharing)"
)
_VERSION = re.compile(r"[-_ ]v?\d+(\.\d+)*$")
_REFUSALS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file of texts: its path as it was named, the data set it is, and what it holds."""

    path: str
    dataset: str
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One text, with its task."""

    source: str
    dataset: str
    segment: Segment
    input_id: str
    split: Split
    licence: str
    """Empty where unknown."""


def rows_of(
    files: Sequence[DataFile],
    *,
    task: str | None = None,
    licence: str = "",
    shares: Shares | None = None,
    seed: int = 1,
) -> tuple[Row, ...]:
    """Return all texts of `files`, each dealt to one split with all that share its input.

    Raise `ConfigError` if a row has no task, and `DataError` if there are no rows.

    `files`: in order; a row may name its data set and its licence in its meta.
    `licence`: licence of the rows that name none.
    """
    texts = [(file, _tasked(segment, task)) for file in files for segment in file.segments]
    if not texts:
        named = ", ".join(file.path for file in files)
        raise DataError(f"there is no row in {named}")
    keys = [input_keys(segment) for _, segment in texts]
    datasets: dict[str, str] = {}
    for (file, segment), key in zip(texts, keys, strict=True):
        datasets.setdefault(key.whole, _dataset(file, segment))
    split = dealt(groups_of(keys), datasets, shares=shares or Shares(), seed=seed)
    return tuple(
        Row(
            source=file.path,
            dataset=_dataset(file, segment),
            segment=segment,
            input_id=key.whole,
            split=split[key.whole],
            licence=_text(segment.meta, *_LICENCE) or licence,
        )
        for (file, segment), key in zip(texts, keys, strict=True)
    )


def refuse_overlap(rows: Iterable[Row], evaluation: Sequence[DataFile]) -> None:
    """See that no row shares its input with a text of an evaluation set.

    Raise `DataError` if one does; the message counts them and names the first.
    """
    theirs = [(file.path, input_keys(segment)) for file in evaluation for segment in file.segments]
    ours = [(row, input_keys(row.segment)) for row in rows]
    telling = telling_keys([keys for _, keys in (*theirs, *ours)])
    paths = {key: path for path, keys in theirs for key in keys.all & telling}
    shared = [(row, paths[key]) for row, keys in ours for key in sorted(keys.all & paths.keys())]
    if shared:
        names = list(dict.fromkeys(row.segment.segment_id for row, _ in shared))
        files = ", ".join(dict.fromkeys(path for _, path in shared))
        raise DataError(
            f"inputs of {len(names)} rows also occur in {files}"
            f" ({', '.join(map(repr, names[:_NAMES_SHOWN]))}): leave them out of the training data"
        )


def _tasked(segment: Segment, task: str | None) -> Segment:
    name = task or segment.task
    if not name:
        raise ConfigError(f"row {segment.segment_id!r} names no task: name one with --task")
    return segment if segment.task == name else replace(segment, task=name)


def _dataset(file: DataFile, segment: Segment) -> str:
    return _text(segment.meta, _DATASET) or file.dataset


def _text(meta: Mapping[str, object], *names: str) -> str:
    return next((value for name in names if isinstance(value := meta.get(name), str)), "")


def permits_training(licence: str, *, accepted: Collection[str] = ()) -> bool:
    """Say whether `licence` is known to permit training, or is one of `accepted`."""
    folded = licence.strip().casefold().replace(" ", "-")
    if folded in {name.strip().casefold().replace(" ", "-") for name in accepted}:
        return True
    bare = _VERSION.sub("", folded)
    return any(_PERMITS.fullmatch(name) is not None for name in (folded, bare))


def require_licences(owned: Iterable[tuple[str, str]], *, accepted: Collection[str] = ()) -> None:
    """Raise `ConfigError` if a licence does not permit training; the message names the first few.

    `owned` says whose licence it is, and which, empty where unknown; the user answers for those
    that are `accepted`.
    """
    refused = dict.fromkeys(
        f"{whose} ({licence or 'no licence given'})"
        for whose, licence in owned
        if not permits_training(licence, accepted=accepted)
    )
    if refused:
        named, others = "; ".join(list(refused)[:_REFUSALS_SHOWN]), len(refused) - _REFUSALS_SHOWN
        more = f" (and {others} more)" if others > 0 else ""
        raise ConfigError(f"not known to permit training: {named}{more}")


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

    def of_system(row: Row) -> Hashable:
        return "system", row.dataset, row.segment.system

    def of_aspect(aspect: Aspect) -> Hashable:
        return "aspect", aspect.task.name, aspect.name

    for outputs in grouped(rows, lambda row: row.input_id).values():
        for row in least_used(outputs, used, rng, k=systems, key=of_system):
            fit = [a for a in aspects[row.segment.task] if not a.lacking(row.segment.inputs)]
            for aspect in least_used(fit, used, rng, k=per_output, key=of_aspect):
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
