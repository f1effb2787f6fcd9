"""Training: turn a folder of examples into a job for a trainer and a record of the data."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.llm.distilled_form import (
    NO,
    VERDICT,
    YES,
    layout_of,
    light_characters,
    says_faulty,
)
from spanjury.orchestration.studies.distillation.training_set import (
    Example,
    read_split,
    require_whole,
    split_file,
)
from spanjury.orchestration.wiring.training import (
    DataStatistics,
    TrainingJob,
    TrainingOptions,
    TrainingPair,
    VerdictWords,
    pairs_digest,
)

_UNKNOWN = "(not named)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """The examples that a model is trained on, as described in its record by the digest.

    `counts` has the number of examples for each name under each heading.
    """

    digest: str
    counts: Mapping[str, Mapping[str, int]]
    inputs: frozenset[str]


def training_job(data: Path, *, base: str, folder: Path, options: TrainingOptions) -> TrainingJob:
    """Read a folder of examples, as `distil build` writes it.

    `data` is a complete training set; the loss is also measured on its validation examples.

    Raise `ConfigError` if there is no example to learn from, and `DataError` if the set is
    incomplete, or a line belongs to another split.
    """
    require_whole(data)
    record = _Record()
    pairs = [record.counted(pair) for pair in read_split(data, "train")]
    if not pairs:
        raise ConfigError(f"{data / split_file('train')} holds no example to learn from")
    layouts = {layout_of(pair.target) for pair in pairs}
    if len(layouts) > 1:
        raise DataError(f"{data}: replies of two layouts: {' and '.join(sorted(layouts))}")
    (layout,) = layouts
    return TrainingJob(
        pairs=pairs,
        validation=[_pair(pair) for pair in read_split(data, "validation")],
        base=base,
        folder=folder,
        options=options,
        layout=layout,
        verdict=VerdictWords(prefix=VERDICT, yes=YES, no=NO) if layout != "score-last" else None,
        data=DataStatistics(
            source=data.resolve().name,
            digest=pairs_digest(pairs),
            counts=record.counts,
            licences=sorted(record.licences),
        ),
    )


def same_answers(job: TrainingJob) -> bool:
    """Return whether all training examples have the same answer."""
    return len({pair.target for pair in job.pairs}) == 1


def training_data(data: Path) -> TrainingData:
    """Describe the examples in a folder; raise the `DataError` of `training_job`."""
    record = _Record()
    digest = pairs_digest(record.counted(pair) for pair in read_split(data, "train"))
    return TrainingData(digest=digest, counts=record.counts, inputs=frozenset(record.inputs))


@dataclass(slots=True)
class _Record:
    """The counts of examples and the inputs, for the record of a model."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    licences: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)

    def counted(self, example: Example) -> TrainingPair:
        """Count an example, and return its training pair."""
        made_of_verdict = bool(example.provenance.panel)
        names_under = {
            "data set": (example.dataset,),
            "task": (example.task,),
            "aspect": (example.aspect,),
            "aspect of a task": (f"{example.task}: {example.aspect}",),
            "made of": ("a panel's verdict" if made_of_verdict else "damage",),
            "damage": dict.fromkeys(example.provenance.damages),
            "errors": ("some" if example.report.spans else "none",),
            "reading": (example.reading,),
        }
        for heading, names in names_under.items():
            self.counts.setdefault(heading, Counter()).update(name or _UNKNOWN for name in names)
        self.licences.update(filter(None, (example.licences.source,)))
        self.licences.update(filter(None, example.licences.teachers.values()))
        self.inputs.add(example.input_id)
        return _pair(example)


def _pair(example: Example) -> TrainingPair:
    return TrainingPair(
        messages=example.messages,
        target=example.target,
        sources=tuple(example.inputs.values()),
        light=light_characters(example.target),
        faulty=says_faulty(example.target),
    )
