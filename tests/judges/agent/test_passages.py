"""A long source in passages, and what a query finds in it."""

from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.agent.passages import best_passages, split_passages

SOURCE = {
    "Article": "The bridge opened in 1932. It is painted grey. Ships pass beneath it all day.",
    "Note": "The bridge was closed in May. Ann Lee repaired it.",
}


def found(query: str, *, limit: int = 9) -> list[int]:
    passages = split_passages(SOURCE, size=30)
    return [passage.number for passage in best_passages(passages, query, limit=limit)]


def test_passages_are_whole_sentences_numbered_over_all_inputs() -> None:
    result = [(it.number, it.header, it.text) for it in split_passages(SOURCE, size=50)]
    assert result == [
        (1, "Article", "The bridge opened in 1932. It is painted grey."),
        (2, "Article", "Ships pass beneath it all day."),
        (3, "Note", "The bridge was closed in May. Ann Lee repaired it."),
    ]


@given(text=st.text(), size=st.integers(min_value=1, max_value=40))
def test_passages_are_short_and_lose_nothing_but_blanks(text: str, size: int) -> None:
    passages = split_passages({"Input": text}, size=size)
    assert all(0 < len(passage.text) <= size for passage in passages)
    assert [passage.number for passage in passages] == list(range(1, len(passages) + 1))
    assert "".join("".join(it.text for it in passages).split()) == "".join(text.split())


def test_the_passage_with_the_rarer_word_comes_first() -> None:
    assert found("bridge painted")[0] == 2


def test_case_and_accents_do_not_matter() -> None:
    assert found("ÀNN LEE!") == [5]


def test_no_more_passages_are_found_than_asked_for() -> None:
    assert len(found("bridge it the", limit=2)) == 2


def test_nothing_is_found_for_words_that_do_not_occur() -> None:
    assert found("zebra") == []
    assert found("…") == []
    assert best_passages((), "bridge", limit=3) == ()


@given(
    texts=st.lists(st.text(alphabet="ab c.", max_size=40), max_size=5),
    query=st.text(alphabet="abc ", max_size=10),
)
def test_every_passage_found_shares_a_word_with_the_query(texts: list[str], query: str) -> None:
    passages = split_passages({str(n): text for n, text in enumerate(texts)}, size=10)
    wanted = set(query.split())
    hits = best_passages(passages, query, limit=len(passages))
    assert {it.number for it in hits} == {it.number for it in passages if wanted & it.words.keys()}
