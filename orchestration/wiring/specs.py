"""Seats and plugins with options, as flags name them in one word."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.checking import CHECKER, FOLDER
from spanjury.orchestration.wiring.config import LOCAL, SeatConfig
from spanjury.orchestration.wiring.reading import WEIGHTS, is_reader

_READER, _DISTILLED = "reader", "distilled"
"""Judges that may be named with a folder that holds a reader."""

_GUARDIAN, _FORM, _PROMETHEUS = "guardian", "form", "prometheus"
"""Judge that may be named with the form in which its model is asked, and the option for it; a form
that is a judge of its own."""


def parse_seat(spec: str) -> SeatConfig:
    """Read a seat from a flag, as `parse_options` does.

    ``NAME:FOLDER`` is a judge that asks the model in a folder, as ``distil train`` writes one;
    ``NAME:FOLDER:option=value`` has options besides. Where the folder holds a reader,
    ``distilled`` is the judge that has it read. ``checker`` checks with the model in the folder,
    and ``guardian:FORM`` asks a model in one of the forms that it knows; ``guardian:prometheus`` is
    the judge ``prometheus``.

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
    if judge == _GUARDIAN:
        name, given = parse_options(f"{judge}:{options}", what="judge")
        if folder == _PROMETHEUS:
            return SeatConfig(judge=_PROMETHEUS, options=given)
        return SeatConfig(judge=name, options={_FORM: folder, **given})
    if not Path(folder).is_dir():
        raise ConfigError(f"judge {spec!r}: {folder!r} is neither option=value nor a folder")
    name, given = parse_options(f"{judge}:{options}", what="judge")
    if name == CHECKER:
        return SeatConfig(judge=name, name=f"{name}:{folder}", options={FOLDER: folder, **given})
    if name == _READER or (name == _DISTILLED and is_reader(Path(folder))):
        given = {WEIGHTS: folder, **given}
        return SeatConfig(judge=_READER, name=f"{name}:{folder}", options=given)
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
