"""Seats and plugins with options, as flags name them in one word."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.checker_models import (
    FOLDER,
    MODEL,
    is_folder,
    is_model,
    pinned,
)
from spanjury.orchestration.wiring.config import CHECKER, KIND, LOCAL, READER, SeatConfig
from spanjury.orchestration.wiring.plugins import CHECKERS
from spanjury.orchestration.wiring.reading import WEIGHTS, is_reader

_MAY_READ = frozenset((CHECKER, "distilled"))
"""Judges that are the judge `reader` if they are named with a folder that holds one."""
_OPTIONS = re.compile(r"(?:^|:)(?=\s*\w*\s*=)|:$")
"""The colon before the first option; a folder or a model before it may hold others."""

_GUARDIAN, _FORM, _PROMETHEUS = "guardian", "form", "prometheus"
"""Judge that may be named with the form in which its model is asked, and the option for it; a form
that is a judge of its own."""


def parse_seat(spec: str) -> SeatConfig:
    """Read a seat from a flag, as `parse_options` does.

    ``NAME:FOLDER`` is a judge that asks the model in a folder, as ``distil train`` writes one;
    ``NAME:FOLDER:option=value`` has options besides. ``checker`` checks with the model in the
    folder, with a model that ``checker:NAME`` names, or with the checker of a plugin. If the folder
    holds a reader, ``checker`` and ``distilled`` are the judge `reader`, as ``checker:reader`` is.
    ``guardian:FORM`` asks a model in one of the forms that it knows; ``guardian:prometheus`` is
    ``prometheus``. Raise `ConfigError` as `parse_options` does, and if there is no such folder or
    model.

    Examples
    --------
    >>> parse_seat("annotator:max_tokens=512,score=numeric").options["max_tokens"]
    512
    """
    judge, _, rest = spec.partition(":")
    named, options = (rest, "") if is_folder(rest) else _parted(rest)
    name, given = parse_options(f"{judge}:{options}", what="judge")
    if not named:
        return SeatConfig(judge=name, options=given)
    if name == _GUARDIAN:
        if named == _PROMETHEUS:
            return SeatConfig(judge=_PROMETHEUS, options=given)
        return SeatConfig(judge=name, options={_FORM: named, **given})
    seat_name = READER if (name, named) == (CHECKER, READER) else f"{name}:{named}"
    if is_folder(named) and (name == READER or (name in _MAY_READ and is_reader(Path(named)))):
        return SeatConfig(judge=READER, name=seat_name, options={WEIGHTS: named, **given})
    if name == CHECKER:
        return SeatConfig(judge=name, name=seat_name, options=_checker_options(named, given))
    if not is_folder(named):
        raise ConfigError(f"judge {spec!r}: {named!r} is neither option=value nor a folder")
    return SeatConfig(judge=name, model=f"{LOCAL}/{named}", name=seat_name, options=given)


def _parted(text: str) -> tuple[str, str]:
    """Return the folder or model that follows a judge's name, and the options after it."""
    options = _OPTIONS.search(text)
    return (text, "") if options is None else (text[: options.start()], text[options.end() :])


def _checker_options(named: str, given: Mapping[str, object]) -> Mapping[str, object]:
    """Return the options of a checker that a plugin's name, a folder or a model's name tells."""
    if named == READER or (named in CHECKERS.names() and named != FOLDER):
        return {KIND: named, **given}
    if is_folder(named) and not is_model(named):
        return {FOLDER: named, **given}
    return pinned({MODEL: named, **given})


def parse_options(spec: str, *, what: str) -> tuple[str, Mapping[str, object]]:
    """Read ``NAME`` or ``NAME:option=value,option=value`` as a plugin's name and its options.

    Values are TOML where they can be read as such and text where not. Raise `ConfigError`, which
    says of `what`, if the text is neither.
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
