"""Seats and plugins with options, written as a single word in flags."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.checker_models import FOLDER, MODEL, is_folder, is_model, pinned
from spanjury.orchestration.wiring.config import CHECKER, KIND, LOCAL, READER, SeatConfig
from spanjury.orchestration.wiring.plugins import CHECKERS
from spanjury.orchestration.wiring.reading import WEIGHTS, is_reader

_MAY_READ = frozenset((CHECKER, "distilled"))
"""Judges that become the judge `reader` if their folder contains a reader."""
_OPTIONS = re.compile(r"(?:^|:)(?=\s*\w*\s*=)|:$")
"""The colon before the first option; a preceding folder or model may contain other colons."""
_OPENING = ('"', "'", "[", "{")
"""Signs that open a text, a list or a table of TOML."""
_GUARDIAN, _FORM, _PROMETHEUS = "guardian", "form", "prometheus"
"""The judge whose name may include a form, the option for it, and a form that is its own judge."""


def parse_seat(spec: str) -> SeatConfig:
    """Parse a seat from a flag, as `parse_options` does.

    ``NAME:FOLDER`` is a judge that uses the model in a folder, as ``distil train`` writes one;
    ``NAME:FOLDER:option=value`` adds options. ``checker`` uses the model in the folder, a model
    that ``checker:NAME`` names, or the checker of a plugin. If the folder contains a reader,
    ``checker`` and ``distilled`` mean the judge `reader`, as does ``checker:reader``.
    ``guardian:FORM`` prompts a model in one of its known forms; ``guardian:prometheus`` means
    ``prometheus``. Raise the `ConfigError` of `parse_options`, and `ConfigError` if there is no
    such folder or model.

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
    """Return the folder or model after a judge's name, and the options after it."""
    options = _OPTIONS.search(text)
    return (text, "") if options is None else (text[: options.start()], text[options.end() :])


def _checker_options(named: str, given: Mapping[str, object]) -> Mapping[str, object]:
    """Return the options of a checker named by a plugin, a folder or a model."""
    if named == READER or (named in CHECKERS.names() and named != FOLDER):
        return {KIND: named, **given}
    if is_folder(named) and not is_model(named):
        return {FOLDER: named, **given}
    return pinned({MODEL: named, **given})


def parse_options(spec: str, *, what: str) -> tuple[str, Mapping[str, object]]:
    """Parse ``NAME`` or ``NAME:option=value,option=value`` as a plugin's name and its options.

    Values are parsed as TOML if possible and taken as text otherwise, as is ``1_000``. So a text
    with a comma, or one that looks like a number, is written in quotation marks, and a list in
    brackets. Raise `ConfigError`, whose message names `what`, if the text has another form.

    Examples
    --------
    >>> parse_options('words:words=["a", "b"],mode="1"', what="judge")
    ('words', {'words': ['a', 'b'], 'mode': '1'})
    """
    name, _, pairs = spec.partition(":")
    options: dict[str, object] = {}
    for pair in filter(None, _pairs(pairs)):
        option, equals, value = pair.partition("=")
        if not equals or not option.strip():
            raise ConfigError(
                f"{what} {spec!r}: expected option=value, got {pair!r}; a text with a comma is"
                ' written in quotation marks, option="a, b"'
            )
        options[option.strip()] = _value(value.strip())
    if not name.strip():
        raise ConfigError(f"{what} {spec!r}: expected NAME or NAME:option=value,…")
    return name.strip(), options


def _pairs(text: str) -> Iterator[str]:
    """Yield the parts between commas, except commas inside a quotation, a list or a table."""
    parts = text.split(",")
    while parts:
        ends = (end for end in range(1, len(parts) + 1) if _is_whole(",".join(parts[:end])))
        end = next(ends, 1)  # a sign that is never closed belongs to a text
        yield ",".join(parts[:end])
        del parts[:end]


def _is_whole(pair: str) -> bool:
    value = pair.partition("=")[2].strip()
    return not value.startswith(_OPENING) or _value(value) != value


def _value(text: str) -> object:
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:  # a string without quotation marks
        return text
    return text if isinstance(value, int | float) and "_" in text else value
