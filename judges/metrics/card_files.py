"""Cards of metrics, read from the TOML files of a package."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from spanjury.judges.core import MetricCard, PluginError
from spanjury.judges.core.lazy import Once, lazily

with lazily():
    import pydantic

_CARD = Once(lambda: pydantic.TypeAdapter(MetricCard))


def read_cards(package: str) -> dict[str, MetricCard]:
    """Read every ``NAME.toml`` of `package` as the card of the metric NAME.

    A card has the keys of `MetricCard`; ``name``, and by default ``family``, is the file's name.
    Raises `PluginError` if there is no such package or a file is not a card; the message names the
    file and the key.
    """
    try:
        tables = sorted(_toml_files(package), key=lambda file: file.name)
    except ModuleNotFoundError as error:
        raise PluginError(f"there is no package of cards {package!r}") from error
    cards = [_card(file.name, file.read_text(encoding="utf-8")) for file in tables]
    return {card.name: card for card in cards}


def _toml_files(package: str) -> Iterator[Traversable]:
    return (file for file in files(package).iterdir() if file.name.endswith(".toml"))


@cache
def _card(file: str, text: str) -> MetricCard:
    name = file.removesuffix(".toml")
    try:
        values = tomllib.loads(text)
        return _CARD.get().validate_python({"name": name, "family": name, **values})
    except tomllib.TOMLDecodeError as error:
        raise PluginError(f"{file} is not a TOML file: {error}") from error
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise PluginError(f"{file}: {where}: {first['msg']}") from error
