"""The check of words finds them in names and sentences, and spares what is allowed."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

HITS: Callable[[str, str], Iterator[tuple[int, str, str]]] = runpy.run_path(
    str(Path(__file__).parents[2] / ".ci" / "words.py")
)["hits"]


def found(text: str, path: str = "judges/one.py") -> list[tuple[int, str]]:
    return [(line, word) for line, word, _ in HITS(path, text)]


def test_words_are_found_whole_in_sentences_and_in_names() -> None:
    assert found("A user is told.\n\ntold_judges = LeftOut()") == [
        (1, "told"),
        (3, "told"),
        (3, "leftout"),
    ]
    assert found("He untold toldest exhibited brakes") == []


def test_a_docstring_does_not_begin_with_a_question() -> None:
    assert found('    """What comes of it."""') == [(1, "What")]
    assert found('"""Return what comes of it."""\n"""Whether it came."""') == [(2, "Whether")]


def test_a_word_may_stand_where_the_list_allows_it() -> None:
    assert found("Nobody came.", "tests/judges/test_one.py") == []
    assert found("Nobody came.") == [(1, "nobody")]
