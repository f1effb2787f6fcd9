import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from itertools import chain, groupby, permutations
from threading import Lock
from types import MappingProxyType

import pytest
from fakes.processes import completed
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading.sources import by_source
from spanjury.judges.core import DataError, ErrorSpan, Located, Segment

ANY_TEXT = st.text(st.characters(), max_size=5)  # lone surrogates are among them
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(ANY_TEXT, inner, max_size=2),
    max_leaves=5,
)
OMISSIONS = st.builds(
    ErrorSpan,
    text=ANY_TEXT,
    explanation=ANY_TEXT,
    severity=st.none() | st.integers(1, 5),
    category=ANY_TEXT,
    found_by=st.lists(ANY_TEXT, max_size=2).map(tuple),
    start=st.none(),
    end=st.none(),
    located=st.just(Located.UNLOCATED),
)
PLACED = st.builds(
    lambda span, start, text: replace(
        span, text=text, start=start, end=start + len(text), located=Located.FUZZY
    ),
    OMISSIONS,
    st.integers(0, 9),
    st.text(st.characters(), min_size=1, max_size=5),
)
SEGMENTS = st.builds(
    Segment,
    segment_id=ANY_TEXT,
    output=ANY_TEXT,
    inputs=st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy")),
    task=ANY_TEXT,
    references=st.lists(ANY_TEXT, max_size=2).map(tuple),
    system=ANY_TEXT,
    human=st.dictionaries(
        ANY_TEXT, st.dictionaries(ANY_TEXT, NUMBERS.map(float), max_size=2), max_size=2
    ),
    gold=st.lists(OMISSIONS | PLACED, max_size=2).map(tuple),
    meta=st.dictionaries(ANY_TEXT, JSON, max_size=2),
)


def source(segment: Segment) -> tuple[tuple[str, str], ...]:
    """Return the inputs in the order in which a prompt has them."""
    return tuple(segment.inputs.items())


@given(st.lists(SEGMENTS, max_size=8))
def test_segments_of_one_source_stand_together_and_in_order(segments: list[Segment]) -> None:
    expected = {source(segment): list[Segment]() for segment in segments}
    for segment in segments:
        expected[source(segment)].append(segment)
    ordered = list(by_source(iter(segments)))
    assert ordered == list(chain.from_iterable(expected.values()))
    assert [key for key, _ in groupby(ordered, key=source)] == list(expected)


def test_inputs_in_another_order_are_another_source() -> None:
    orders = [dict(pairs) for pairs in permutations([("a", "x"), ("b", "y")])]
    segments = [Segment(segment_id=str(n), output="", inputs=orders[n % 2]) for n in range(4)]
    assert [segment.segment_id for segment in by_source(iter(segments))] == ["0", "2", "1", "3"]


def test_a_mapping_of_any_kind_is_kept_as_what_it_holds() -> None:
    meta = MappingProxyType({"outer": MappingProxyType({"inner": 1})})
    segment = Segment(segment_id="a", output="", inputs=MappingProxyType({"a": "x"}), meta=meta)
    assert list(by_source(iter([segment]))) == [segment]


def test_two_surrogates_in_an_input_stay_two_code_points() -> None:
    segment = Segment(segment_id="a", output="", inputs={"a": "\ud83d" + "\ude00"})
    assert list(by_source(iter([segment]))) == [segment]


def nested(depth: int) -> object:
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [date(2001, 1, 1), (1, 2), {1: "x"}, {"x"}, b"x", float("inf")])
def test_a_meta_that_json_cannot_hold_stays_as_it_is(value: object) -> None:
    segments = [Segment(segment_id="a", output="", meta={"value": value})]
    assert list(by_source(iter(segments))) == segments


@pytest.mark.parametrize(
    "value", [nested(10_000), lambda: None, Lock()], ids=["deep", "code", "lock"]
)
def test_a_meta_that_cannot_be_stored_names_its_row(value: object) -> None:
    def segments() -> Iterator[Segment]:
        yield Segment(segment_id="good", output="")
        yield Segment(segment_id="bad", output="", meta={"value": value})

    with pytest.raises(DataError, match="row 'bad' cannot be stored: "):
        list(by_source(segments()))


def test_threads_may_read_in_turn() -> None:
    segments = [Segment(segment_id=str(number), output="") for number in range(4)]
    ordered = by_source(iter(segments))
    read = []
    for _ in segments:
        with ThreadPoolExecutor(max_workers=1) as thread:
            read.append(thread.submit(next, ordered).result())
    assert read == segments


FULL_DISK = """
import resource
from spanjury.adapters.files.reading.sources import by_source
from spanjury.judges.core import Segment

resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    list(by_source(Segment(segment_id=str(n), output="x" * 1_000_000) for n in range(30)))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_full_disk_is_reported() -> None:
    run = completed([sys.executable, "-c", FULL_DISK])
    assert run.stderr == ""
    assert run.stdout.startswith("StoreError a temporary file cannot be used: ")
    assert "SQLITE_TMPDIR" in run.stdout
