"""Sampling is balanced over systems and aspects, and the same for the same seed."""

from collections import Counter

import numpy as np
from fakes.training_rows import aspects_of, data_file, text
from hypothesis import given
from hypothesis import strategies as st

from spanjury.orchestration.studies.distillation.rows import Row, rows_of
from spanjury.orchestration.studies.distillation.targets import least_used, sampled

SYSTEMS = "abcdefg"


def rows(inputs: int) -> tuple[Row, ...]:
    segments = [
        text(f"{n}{system}", f"source {n}", output=f"Text {n} of {system}.", system=system)
        for n in range(inputs)
        for system in SYSTEMS
    ]
    return rows_of([data_file(segments)])


@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 8), st.integers(0, 99))
def test_every_input_has_its_systems_and_every_output_its_aspects(
    inputs: int, systems: int, per_output: int, seed: int
) -> None:
    given_rows = rows(inputs)
    aspects = aspects_of(given_rows)
    known = len(aspects["summarization"])
    drawn = list(sampled(given_rows, aspects, systems=systems, per_output=per_output, seed=seed))
    outputs = Counter(row.segment.segment_id for row, _ in drawn)
    assert len(drawn) == len({(row.segment.segment_id, aspect.name) for row, aspect in drawn})
    assert set(outputs.values()) == {min(per_output, known)}
    assert len(outputs) == inputs * min(systems, len(SYSTEMS))
    for used in (
        Counter(row.segment.system for row, _ in drawn),
        Counter(aspect.name for _, aspect in drawn),
    ):
        counts = [used[name] for name in used]
        assert max(counts) - min(counts) <= max(1, min(per_output, known))
    again = sampled(given_rows, aspects, systems=systems, per_output=per_output, seed=seed)
    assert drawn == list(again)


def test_an_aspect_that_cannot_be_judged_is_not_drawn() -> None:
    blind = rows_of([data_file([text("a", "")])])
    names = {
        aspect.name
        for _, aspect in sampled(blind, aspects_of(blind), systems=1, per_output=9, seed=1)
    }
    assert "consistency" not in names
    assert "fluency" in names


def test_the_least_drawn_key_is_next_and_none_repeats_before_all_others() -> None:
    used: Counter[object] = Counter({"a": 2, "b": 1})
    rng = np.random.default_rng(1)
    drawn = least_used(["a1", "a2", "b1", "c1"], used, rng, k=4, key=lambda name: name[0])
    assert [name[0] for name in drawn] == ["c", "b", "a", "a"]
    assert used == Counter({"a": 4, "b": 2, "c": 1})
