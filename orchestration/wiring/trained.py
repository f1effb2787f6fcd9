"""The options that the folder of a trained model says by itself: how it is asked and read."""

from pathlib import Path

from spanjury.judges.core.lazy import lazily

with lazily():
    from spanjury.orchestration.wiring import training_record

_RECORD = "training.json"
_LOCAL = "local/"


def judging_options(model: str) -> dict[str, object]:
    """Return the options for the judge `distilled` that ``local/FOLDER`` records.

    None for another model, and for a folder of a version that recorded none. Raise `ConfigError`
    if there is a record that cannot be read.
    """
    path = Path(model.removeprefix(_LOCAL)) / _RECORD
    if not model.startswith(_LOCAL) or not path.is_file():
        return {}
    return training_record.recorded_options(path)
