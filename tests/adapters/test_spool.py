"""Pieces in a temporary file: numbered, read back, and searched piece by piece."""

from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files import spool
from spanjury.adapters.files.spool import open_spool


@given(
    pieces=st.lists(st.binary(max_size=6), max_size=20), needle=st.binary(min_size=1, max_size=3)
)
def test_pieces_come_back_and_are_found_as_in_a_list(pieces: list[bytes], needle: bytes) -> None:
    with open_spool() as opened:
        assert [opened.put(piece) for piece in pieces] == list(range(len(pieces)))
        assert [opened.get(number) for number in range(len(opened))] == pieces
        expected = [number for number, piece in enumerate(pieces) if needle in piece]
        assert list(opened.holding(needle)) == expected


def test_a_needle_across_two_pieces_is_not_found() -> None:
    with open_spool() as opened:
        for piece in (b"ab", b"ba", b"", b"bb"):
            opened.put(piece)
        assert list(opened.holding(b"bb")) == [3]


def test_pieces_longer_than_a_block_are_searched_to_their_ends() -> None:
    long = b"x" * (spool._BLOCK + 10)
    with open_spool() as opened:
        for piece in (b"needle", long + b"needle", b"none", long, b"needle"):
            opened.put(piece)
        assert list(opened.holding(b"needle")) == [0, 1, 4]


def test_pieces_that_are_put_later_are_found_too() -> None:
    with open_spool() as opened:
        opened.put(b"one")
        assert list(opened.holding(b"two")) == []
        opened.put(b"two")
        assert (list(opened.holding(b"two")), opened.get(1)) == ([1], b"two")


def test_an_empty_needle_is_in_every_piece() -> None:
    with open_spool() as opened:
        for piece in (b"a", b"b", b"c"):
            opened.put(piece)
        assert list(opened.holding(b"")) == [0, 1, 2]
