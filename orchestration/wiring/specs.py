"""Parse seats, and plugins with options, from one word of a flag."""

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
"""Characters that open a string, a list or a table in TOML."""
_GUARDIAN, _FORM, _PROMETHEUS = "guardian", "form", "prometheus"
"""The judge whose name may include a form, its option for a form, and a form that is a judge."""


def parse_seat(spec: str) -> SeatConfig:
    """Parse a seat from a flag, as `parse_options` does.

    ``NAME:FOLDER`` is a judge that uses the model in a folder, which ``distil train`` writes;
    ``NAME:FOLDER:option=value`` adds options. ``checker:NAME`` uses the model in a folder, a model
    by its name, or the checker of a plugin. If the folder contains a reader, ``checker`` and
    ``distilled`` mean the judge `reader`, as does ``checker:reader``. ``guardian:FORM`` prompts a
    model in one of its known forms; ``guardian:prometheus`` means ``prometheus``.

    Raise the `ConfigError` of `parse_options`, and `ConfigError` if there is no such folder or
    model.

    Examples
    --------
    >>> parse_seat("annotator:max_tokens=512,score=numeric").options["max_tokens"]
    512
    """
    judge, _, rest = spec.partition(":")
    source, pairs = rest, ""
    if not is_folder(rest) and (first := _OPTIONS.search(rest)) is not None:
        source, pairs = rest[: first.start()], rest[first.end() :]
    name, options = parse_options(f"{judge}:{pairs}", what="judge")
    if not source:
        return SeatConfig(judge=name, options=options)
    if name == _GUARDIAN:
        if source == _PROMETHEUS:
            return SeatConfig(judge=_PROMETHEUS, options=options)
        return SeatConfig(judge=name, options={_FORM: source, **options})
    seat_name = READER if (name, source) == (CHECKER, READER) else f"{name}:{source}"
    if is_folder(source) and (name == READER or (name in _MAY_READ and is_reader(Path(source)))):
        return SeatConfig(judge=READER, name=seat_name, options={WEIGHTS: source, **options})
    if name == CHECKER:
        if source == READER or (source in CHECKERS.names() and source != FOLDER):
            own: Mapping[str, object] = {KIND: source, **options}
        elif is_folder(source) and not is_model(source):
            own = {FOLDER: source, **options}
        else:
            own = pinned({MODEL: source, **options})
        return SeatConfig(judge=name, name=seat_name, options=own)
    if not is_folder(source):
        raise ConfigError(f"judge {spec!r}: {source!r} is neither option=value nor a folder")
    return SeatConfig(judge=name, model=f"{LOCAL}/{source}", name=seat_name, options=options)


def parse_options(spec: str, *, what: str) -> tuple[str, Mapping[str, object]]:
    """Parse ``NAME`` or ``NAME:option=value,option=value`` as a plugin's name and its options.

    Values are parsed as TOML if possible, and are texts otherwise; ``1_000`` is a text, too. So a
    text with a comma, or one that looks like a number, needs quotation marks, and a list needs
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
        end = next(ends, 1)  # an opening character that is never closed belongs to a text
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
