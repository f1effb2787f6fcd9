"""The folder of a trained model: its base, and what it has seen in training."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.llm.percent import Reading
from spanjury.judges.llm.short_prompt import Layout
from spanjury.orchestration.studies.held_out import SeenInTraining

_RECORD = "training.json"
_MODEL = "config.json"
_READER = "reader.json"
_CHECKPOINT = "checkpoint.safetensors"
_ASPECTS = "aspect of a task"
_BETWEEN = ": "

Counts = Mapping[str, Mapping[str, int]]


class _Data(BaseModel):
    model_config = ConfigDict(extra="ignore")

    source: str
    digest: str
    counts: dict[str, dict[str, int]]


class _Judging(BaseModel):
    model_config = ConfigDict(extra="ignore")

    layout: Layout


class TrainedModel(BaseModel):
    """The record of a training.

    Parameters
    ----------
    data
        The training set: its name, a digest, and counts of examples.
    judging
        Layout of its replies; older versions knew one only.
    marks_words
        Whether it is of the token form: an encoder, which replies nothing.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    base: str
    base_identity: str
    data: _Data
    judging: _Judging = _Judging(layout="score-last")
    marks_words: bool = False


def read_trained_model(folder: Path) -> TrainedModel:
    """Read the record in the folder of a model.

    Raise `ConfigError` if there is no model, or its training has not ended, and `DataError`
    if there is no record that can be read.
    """
    marks_words = (folder / _READER).is_file()
    if not marks_words and not (folder / _MODEL).is_file():
        if (folder / _CHECKPOINT).is_file():
            raise ConfigError(f"{folder}: training has not ended; `distil train` goes on with it")
        raise ConfigError(f"{folder} holds no model: name a folder that `distil train` has written")
    path = folder / _RECORD
    try:
        trained = TrainedModel.model_validate_json(path.read_bytes())
        return trained.model_copy(update={"marks_words": marks_words})
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; `distil train` writes it beside a model"
        ) from error
    except ValidationError as error:
        raise DataError(f"{path}: not the record of a training") from error


def seen_in_training(counts: Counts) -> SeenInTraining | None:
    """Return what was seen in training; None if the counts are of a version without it."""
    if _ASPECTS not in counts:
        return None
    pairs = (name.partition(_BETWEEN) for name in counts[_ASPECTS])
    return SeenInTraining(
        tasks=frozenset(counts["task"]),
        aspects=frozenset((task, aspect) for task, _, aspect in pairs),
        damages=frozenset(map(bare_damage, counts.get("damage", ()))),
    )


def reading_of(counts: Counts) -> Reading | None:
    """Return how scores became numbers; None if the counts do not say, or it differs."""
    readings = tuple(counts.get("reading", ()))
    if len(readings) != 1 or readings[0] not in get_args(Reading):
        return None
    return cast("Reading", readings[0])  # it is one of its values


def bare_damage(name: str) -> str:
    """Return the name of a damage without that of its recipe: in another it is the same.

    Examples
    --------
    >>> bare_damage("distil: lost-words")
    'lost-words'
    """
    return name.rpartition(_BETWEEN)[2]
