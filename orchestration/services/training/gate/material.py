"""The material of a gate: the trained model, held-out examples, and the content of its training."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from spanjury.judges.core import Aspect, ConfigError, DataError, Scale, Segment, fingerprint
from spanjury.judges.llm.distilled_form import Layout, Reading, layout_of, messages_for
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.training.train import TrainingData, training_data
from spanjury.orchestration.studies.distillation.training_set import (
    Example,
    read_split,
    require_whole,
    split_file,
)
from spanjury.orchestration.studies.held_out import BoolArray, Case, SeenInTraining, groups_of

_RECORD = "training.json"
_MODEL = "config.json"
_READER = "reader.json"
_CHECKPOINT = "checkpoint.safetensors"
_ASPECTS = "aspect of a task"
_BETWEEN = ": "

Counts = Mapping[str, Mapping[str, int]]
T = TypeVar("T")

_SHOWN = 3


class _Data(BaseModel):
    source: str
    digest: str
    counts: dict[str, dict[str, int]]


class _Judging(BaseModel):
    layout: Layout


class TrainedModel(BaseModel):
    """The record of a training run.

    `data` has the name of the training set, a digest, and counts of examples; `judging` the layout
    of its replies, of which older versions had only one. A model that `marks_words` was trained in
    the token form: it is an encoder, which generates no replies. `checker` is the form of a
    checker.
    """

    model_config = ConfigDict(frozen=True)

    base: str
    base_identity: str
    data: _Data
    judging: _Judging = _Judging(layout="score-last")
    marks_words: bool = False
    checker: Mapping[str, object] | None = None


def read_trained_model(folder: Path) -> TrainedModel:
    """Read the record in a model's folder.

    Raise `ConfigError` if there is no model, or its training has not ended, and `DataError` if
    there is no readable record.
    """
    marks_words = (folder / _READER).is_file()
    if not marks_words and not (folder / _MODEL).is_file():
        if (folder / _CHECKPOINT).is_file():
            raise ConfigError(f"{folder}: training has not ended; `distil train` goes on with it")
        raise ConfigError(f"{folder} holds no model: name a folder that `distil train` has written")
    path = folder / _RECORD
    try:
        trained = TrainedModel.model_validate_json(path.read_bytes())
        is_encoder = marks_words or trained.checker is not None
        return trained.model_copy(update={"marks_words": is_encoder})
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; `distil train` writes it beside a model"
        ) from error
    except ValidationError as error:
        raise DataError(f"{path}: not the record of a training") from error


def seen_in_training(counts: Counts) -> SeenInTraining | None:
    """Return the tasks, aspects and damages seen in training; None if they were not counted."""
    if _ASPECTS not in counts:
        return None
    pairs = (name.partition(_BETWEEN) for name in counts[_ASPECTS])
    return SeenInTraining(
        tasks=frozenset(counts["task"]),
        aspects=frozenset((task, aspect) for task, _, aspect in pairs),
        damages=frozenset(map(bare_damage, counts.get("damage", ()))),
    )


def reading_of(counts: Counts) -> Reading | None:
    """Return the conversion of scores to numbers; None if the counts lack it or mix several."""
    readings = tuple(counts.get("reading", ()))
    if len(readings) != 1 or readings[0] not in get_args(Reading):
        return None
    return cast("Reading", readings[0])  # it is one of its values


def bare_damage(name: str) -> str:
    """Return the name of a damage without that of its recipe: it is the same in every recipe.

    Examples
    --------
    >>> bare_damage("distil: lost-words")
    'lost-words'
    """
    return name.rpartition(_BETWEEN)[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The texts that judges are examined on; cautions name checks that were not possible."""

    cases: tuple[Case, ...]
    groups: Mapping[str, BoolArray]
    reading: Reading
    cautions: tuple[str, ...]


def material_of(
    model: TrainedModel,
    data: Sequence[Path],
    *,
    aspects_files: Sequence[Path] = (),
    limit: int | None = None,
) -> Material:
    """Read the test splits of training sets.

    At most `limit` examples of each set are taken, drawn by their content.

    Raise `DataError` if a set is incomplete or has no test example, or if an example has an input
    that was trained on or would now get another prompt; and `ConfigError` if an aspect is unknown,
    or a set writes scores differently from the model.
    """
    catalogue = Catalogue.load(*aspects_files)
    folders = list(dict.fromkeys(data))
    for folder in folders:
        require_whole(folder)
    sets = [training_data(folder) for folder in folders]
    trained_on = next((each for each in sets if each.digest == model.data.digest), None)
    counts = [model.data.counts, *([trained_on.counts] if trained_on else [])]
    examples = {folder: _examples(folder, limit=limit) for folder in folders}
    possible = [trained_on] if trained_on else sets  # if unknown, it may be any of them
    trained = frozenset().union(*(each.inputs for each in possible))
    for folder, some in examples.items():
        met = [example.provenance.row for example in some if example.input_id in trained]
        if met:
            names = ", ".join(map(repr, list(dict.fromkeys(met))[:_SHOWN]))
            raise DataError(
                f"{folder}: {len(met)} test examples have an input that is trained on ({names}):"
                " build both sets at once, or one with the texts of the other as --evaluation"
            )
    reading = _one_reading(examples, stated=_first(map(reading_of, counts)))
    cases = [case for folder in folders for case in _cases(folder, examples[folder], catalogue)]
    seen = _first(map(seen_in_training, counts))
    return Material(
        cases=tuple(cases),
        groups=groups_of(cases, seen),
        reading=reading,
        cautions=tuple(_cautions(model, trained_on, seen)),
    )


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)


def _examples(folder: Path, *, limit: int | None) -> list[Example]:
    """Return test examples in order; with a limit, those with the smallest digests."""
    examples = list(read_split(folder, "test"))
    if not examples:
        raise DataError(
            f"{folder / split_file('test')} holds no example: build the data with --test"
        )
    if limit is None or limit >= len(examples):
        return examples
    # The choice does not depend on other examples, and a larger limit includes a smaller one.
    drawn = sorted(range(len(examples)), key=lambda index: _digest(examples[index]))[:limit]
    return [examples[index] for index in sorted(drawn)]


def _digest(example: Example) -> str:
    return fingerprint(example.task, example.aspect, example.input_id, example.output)


def _one_reading(examples: Mapping[Path, Sequence[Example]], *, stated: Reading | None) -> Reading:
    """Return the conversion of all scores: that of the model, or else of the first example."""
    readings = [(folder, example.reading) for folder, some in examples.items() for example in some]
    wanted = stated or readings[0][1]
    for folder, reading in readings:
        if reading != wanted:
            raise ConfigError(
                f"{folder}: scores are written as {reading!r} there, and by the model as"
                f" {wanted!r}: build the data with --reading {wanted}"
            )
    return wanted


def _cases(folder: Path, examples: Sequence[Example], catalogue: Catalogue) -> Iterator[Case]:
    aspects: dict[tuple[object, ...], Aspect] = {}
    for example in examples:
        where = f"{folder}: row {example.provenance.row!r}"
        if example.report.score is None:
            raise DataError(f"{where}: its target has no score")
        segment = Segment(
            segment_id=f"{folder.name}/{example.provenance.row}/{_digest(example)}",
            output=example.output,
            inputs=example.inputs,
            task=example.task,
            system=example.system,
        )
        key = (example.task, example.aspect, example.definition, example.labels)
        if key not in aspects:
            aspects[key] = _aspect(example, catalogue)
        aspect = aspects[key]
        layout = layout_of(example.target)
        if messages_for(segment, aspect, layout=layout) != example.messages:
            raise DataError(
                f"{where}: it would be asked about in other words than it was built with: build"
                " the data again, or name the file of its aspect with --aspects-file"
            )
        yield Case(
            segment=segment,
            aspect=aspect,
            target=example.report,
            input_id=example.input_id,
            damages=tuple(map(bare_damage, example.provenance.damages)),
        )


def _aspect(example: Example, catalogue: Catalogue) -> Aspect:
    """Return the example's own aspect, completed by its declaration."""
    try:
        declared = catalogue.aspect(example.task, example.aspect)
    except ConfigError as error:
        raise ConfigError(f"{error}; name the file that declares it: --aspects-file") from error
    return replace(declared, definition=example.definition, scale=Scale(labels=example.labels))


def _cautions(
    model: TrainedModel, trained_on: TrainingData | None, seen: SeenInTraining | None
) -> Iterator[str]:
    if trained_on is None:
        yield (
            f"the data that the model was trained on ({model.data.source}, digest"
            f" {model.data.digest}) is not among the sets: whether it knows these texts cannot"
            " be checked"
        )
    if seen is None:
        yield "neither its record nor a set says what the model has seen in training"
