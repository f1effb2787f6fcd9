"""Seats and plugins with options, as flags name them in one word."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.checking import FOLDER
from spanjury.orchestration.wiring.config import CHECKER, KIND, LOCAL, READER, SeatConfig
from spanjury.orchestration.wiring.reading import WEIGHTS, is_reader

_MAY_READ = frozenset((CHECKER, "distilled"))
"""Judges that are the judge `reader` if they are named with a folder that holds one."""


def parse_seat(spec: str) -> SeatConfig:
    """Read a seat from a flag, as `parse_options` does.

    ``NAME:FOLDER`` is a judge that asks the model in a folder, as ``distil train`` writes one;
    ``NAME:FOLDER:option=value`` has options besides. ``checker`` checks with the model in the
    folder. If the folder holds a reader, ``checker`` and ``distilled`` are the judge `reader`, as
    ``checker:reader`` is.

    Raises
    ------
    ConfigError
        As `parse_options` does, and if there is no such folder.

    Examples
    --------
    >>> parse_seat("annotator:max_tokens=512,score=numeric").options["max_tokens"]
    512
    """
    judge, _, rest = spec.partition(":")
    folder, _, options = rest.partition(":")
    if not folder or "=" in folder:
        name, given = parse_options(spec, what="judge")
        return SeatConfig(judge=name, options=given)
    name, given = parse_options(f"{judge}:{options}", what="judge")
    if (name, folder) == (CHECKER, READER):
        return SeatConfig(judge=name, options={KIND: folder, **given})
    if not Path(folder).is_dir():
        raise ConfigError(f"judge {spec!r}: {folder!r} is neither option=value nor a folder")
    if name == READER or (name in _MAY_READ and is_reader(Path(folder))):
        given = {WEIGHTS: folder, **given}
        return SeatConfig(judge=READER, name=f"{name}:{folder}", options=given)
    if name == CHECKER:
        return SeatConfig(judge=name, name=f"{name}:{folder}", options={FOLDER: folder, **given})
    return SeatConfig(judge=name, model=f"{LOCAL}/{folder}", name=f"{name}:{folder}", options=given)


def parse_options(spec: str, *, what: str) -> tuple[str, Mapping[str, object]]:
    """Read ``NAME`` or ``NAME:option=value,option=value`` as a plugin's name and its options.

    Values are TOML where they can be read as such and text where not.

    Raises
    ------
    ConfigError
        If the text is neither; it says of `what`.
    """
    name, _, pairs = spec.partition(":")
    options: dict[str, object] = {}
    for pair in filter(None, pairs.split(",")):
        option, equals, value = pair.partition("=")
        if not equals or not option.strip():
            raise ConfigError(f"{what} {spec!r}: expected option=value, got {pair!r}")
        options[option.strip()] = _value(value.strip())
    if not name.strip():
        raise ConfigError(f"{what} {spec!r}: expected NAME or NAME:option=value,…")
    return name.strip(), options


def _value(text: str) -> object:
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value
