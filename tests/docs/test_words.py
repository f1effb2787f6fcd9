"""The check of words finds them in names and sentences, and spares what is allowed."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

Hits = Callable[[str, str], Iterator[tuple[int, str, str]]]
SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "words.py"))
HITS: Hits = SCRIPT["hits"]
NAME_HITS: Hits = SCRIPT["name_hits"]


def hits(text: str, path: str = "judges/judge.py") -> list[tuple[int, str]]:
    return [(line, word) for line, word, _ in HITS(path, text)]


def name_hits(text: str, path: str = "judges/judge.py") -> list[tuple[int, str]]:
    return [(line, name) for line, name, _ in NAME_HITS(path, text)]


def test_words_are_found_whole_in_sentences_and_in_names() -> None:
    assert hits("A user is told.\n\ntold_judges = LeftOut()") == [
        (1, "told"),
        (3, "told"),
        (3, "leftout"),
    ]
    assert hits("He untold toldest exhibited brakes") == []


def test_a_docstring_does_not_begin_with_a_question() -> None:
    assert hits('    """What comes of it."""') == [(1, "What")]
    assert hits('"""Return what comes of it."""\n"""Whether it came."""') == [(2, "Whether")]


def test_a_word_may_stand_where_the_list_allows_it() -> None:
    assert hits("Nobody came.", "tests/judges/test_one.py") == []
    assert hits("Nobody came.") == [(1, "nobody")]


def test_names_that_say_nothing_are_hits_wherever_they_are_bound() -> None:
    assert name_hits("def said(place, *, count):\n    self.known = [one for one in place]") == [
        (1, "said"),
        (1, "place"),
        (2, "known"),
        (2, "one"),
    ]
    assert name_hits("class _Found:\n    way: int") == [(1, "found"), (2, "way")]


def test_names_are_compared_whole_and_only_where_they_are_bound() -> None:
    assert name_hits("marked_places = sorted(place.known for span in said)") == []


def test_a_name_may_stand_where_the_list_allows_it() -> None:
    assert name_hits("place = 1", "orchestration/engine/memory.py") == []
    assert name_hits("one = 1", "tests/orchestration/test_panel.py") == []
