"""Published sets of preferences are read, and a pair judge is held against them."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from spanjury import exams, read_segments
from spanjury.adapters.files.annotations.preferences import read_judgebench, read_rewardbench
from spanjury.judges.core import Aspect, DataError, PairReport, Preference, TextPair

PAIR = {
    "pair_id": "p1",
    "original_id": "7",
    "source": "sums",
    "question": "What is 2 + 2?",
    "response_model": "some-model",
    "response_A": "It is 4.",
    "response_B": "It is certainly 5.",
    "label": "A>B",
}
CHOICE = {
    "id": "c1",
    "prompt": "Name a colour.",
    "chosen": ["Red.", "Blue."],
    "rejected": ["Monday."],
    "models": ["a", "b"],
    "subset": "Ties",
    "additional_metadata": {"category": None},
}


def write(path: Path, *rows: Mapping[str, object] | str) -> Path:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("\n".join(lines) + "\n")
    return path


def scored(path: Path) -> list[tuple[str, str, str, dict[str, float | None]]]:
    return [
        (
            row.segment_id,
            row.system,
            row.output,
            {name: row.human_score(name) for name in row.human},
        )
        for row in read_segments(path)
    ]


def test_a_pair_is_two_texts_of_which_one_is_correct(tmp_path: Path) -> None:
    path = write(tmp_path / "x.judgebench.jsonl", PAIR, {**PAIR, "pair_id": "p2", "label": "B>A"})
    assert scored(path) == [
        ("p1/A", "A", "It is 4.", {"correctness": 1.0}),
        ("p1/B", "B", "It is certainly 5.", {"correctness": 0.0}),
        ("p2/A", "A", "It is 4.", {"correctness": 0.0}),
        ("p2/B", "B", "It is certainly 5.", {"correctness": 1.0}),
    ]
    packed = tmp_path / "x.judgebench.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert scored(packed) == scored(path)


def test_each_chosen_and_rejected_response_is_a_text(tmp_path: Path) -> None:
    path = write(tmp_path / "x.rewardbench.jsonl", CHOICE)
    assert scored(path) == [
        ("c1/chosen-1", "chosen-1", "Red.", {"answer-quality": 1.0}),
        ("c1/chosen-2", "chosen-2", "Blue.", {"answer-quality": 1.0}),
        ("c1/rejected-1", "rejected-1", "Monday.", {"answer-quality": 0.0}),
    ]


def test_a_row_of_another_form_is_a_fault_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", PAIR, {**PAIR, "label": "tie"}, "[1]", CHOICE)
    faults = [row for row in read_judgebench(path) if isinstance(row, DataError)]
    for fault, part in zip(
        faults, ("line 2: label: got", "line 3: ", "line 4: pair_id"), strict=True
    ):
        assert part in str(fault)
    assert len([*read_rewardbench(path)]) == 3 + 3
    with pytest.raises(DataError, match="has no rows"):
        read_judgebench(write(tmp_path / "empty.jsonl"))


class PrefersLonger:
    """Prefers the longer text."""

    signature = "longer"

    async def compare(self, pair: TextPair, aspect: Aspect) -> PairReport:
        del aspect
        is_longer = len(pair.a.output) > len(pair.b.output)
        return PairReport(preference=Preference.A if is_longer else Preference.B)


def test_a_judge_that_prefers_the_longer_text_agrees_half_of_the_time(tmp_path: Path) -> None:
    rows = [
        {**PAIR, "pair_id": f"p{number}", "question": f"What is {number} + 2?", "label": label}
        for number, label in enumerate(("A>B", "B>A", "A>B", "B>A"))
    ]
    path = write(tmp_path / "x.judgebench.jsonl", *rows)
    report = exams.preference(path, pair_judge=PrefersLonger(), aspects=["correctness"])
    assert report.measures["preference.agreement"].value == 0.5
