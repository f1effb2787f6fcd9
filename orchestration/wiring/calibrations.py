"""Calibrations as TOML files, which people can read and panel files can name."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from spanjury.judges.core import ConfigError, first_problem
from spanjury.judges.core.errors import reason_of
from spanjury.judges.core.former_names import with_todays_names
from spanjury.judges.core.lazy import Once, lazily
from spanjury.orchestration.engine.calibration import Calibration
from spanjury.orchestration.engine.made_for import panel_digest, seat_differences, signed_seats
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.wiring.toml_lines import toml_lines

with lazily():
    import pydantic

FORMAT = 1
_FORMAT = "format"
_FORMER = {"doubtful": "unsure", "doubtful_alarms": "unsure_alarms"}
"""Former name of a threshold's field -> its current name."""
_CALIBRATION = Once(lambda: pydantic.TypeAdapter(Calibration))


def read_calibration(path: Path) -> Calibration:
    """Read a calibration; raise `ConfigError` if the file is invalid, naming file and key."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
        if values.pop(_FORMAT, None) != FORMAT:
            raise ConfigError(
                f"the calibration {path} has another format than {FORMAT}: make it again by"
                " 'spanjury calibrate'"
            )
        return _CALIBRATION.get().validate_python(_with_todays_thresholds(values), extra="forbid")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the calibration {path} cannot be read: {reason_of(error)}") from error
    except pydantic.ValidationError as error:
        raise ConfigError(f"the calibration {path} does not fit: {first_problem(error)}") from error


def _with_todays_thresholds(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return the table of a calibration with current names for its thresholds."""
    aspects = values.get("aspects")
    if not isinstance(aspects, Mapping):
        return values
    today = {
        name: {**fitted, "thresholds": with_todays_names(fitted["thresholds"], _FORMER)}
        if isinstance(fitted, Mapping) and "thresholds" in fitted
        else fitted
        for name, fitted in aspects.items()
    }
    return {**values, "aspects": today}


def check_made_for(panel: Panel, calibration: Calibration, *, file: Path) -> None:
    """Raise `ConfigError` if a calibration was made for another panel, naming the differences."""
    if calibration.panel == panel_digest(panel):
        return
    own = signed_seats({seat.name: seat.signature for seat in panel.seats})
    why = seat_differences(calibration.seats, own) or (
        "the seats are the same, but not the cascade, its budget, or how their reports become one"
    )
    raise ConfigError(
        f"the calibration {file} is for another panel: {why}; make one for this panel by"
        " 'spanjury calibrate RUN'; if earlier versions of its seats judged RUN, begin with"
        " 'spanjury rescore RUN'"
    )


def write_calibration(calibration: Calibration, path: Path) -> None:
    """Write a calibration, replacing the file; raise `StoreError` if that fails."""
    lines = [f"{_FORMAT} = {FORMAT}", *toml_lines(calibration.plain())]
    write_whole(path, ("\n".join(lines) + "\n").encode())
