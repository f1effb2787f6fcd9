"""Word lists, read from the files of `spanjury.perturbations.lexicon`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_FOLDER = "spanjury.perturbations.lexicon"


@cache
def table(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return word -> words of ``NAME.toml``, whose values are words separated by spaces."""
    read = tomllib.loads(files(_FOLDER).joinpath(f"{name}.toml").read_text("utf-8"))
    return MappingProxyType({word: tuple(words.split()) for word, words in read.items()})


@cache
def lists(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return list name -> entries of ``NAME.toml``, whose values are lists of texts."""
    read = tomllib.loads(files(_FOLDER).joinpath(f"{name}.toml").read_text("utf-8"))
    return MappingProxyType({key: tuple(entries) for key, entries in read.items()})


@cache
def exchanges(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return word -> the other words of its line in ``NAME.txt``."""
    by_word: dict[str, tuple[str, ...]] = {}
    for line in lines(name):
        group = line.split()
        for word in group:
            by_word[word] = (*by_word.get(word, ()), *(other for other in group if other != word))
    return MappingProxyType(by_word)


@cache
def lines(name: str) -> tuple[str, ...]:
    """Return the lines of ``NAME.txt`` that are neither empty nor comments."""
    read = files(_FOLDER).joinpath(f"{name}.txt").read_text("utf-8").splitlines()
    return tuple(line for line in read if line and not line.startswith("#"))
