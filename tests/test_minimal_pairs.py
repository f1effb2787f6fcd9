"""Texts written for examination, and the figures that are made of a panel's decisions on them."""

import importlib
import json
import math
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
FEW = 8


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.minimal_pairs")


@pytest.mark.parametrize(
    ("name", "pairs", "kinds"), [("minimal_pairs", 208, 12), ("one_liners", 40, 1)]
)
def test_twins_share_a_passage_and_differ_by_the_marks(name: str, pairs: int, kinds: int) -> None:
    path = ROOT / "benchmarks" / "written" / f"{name}.jsonl"
    rows = {row["id"]: row for row in map(json.loads, path.read_text().splitlines())}
    assert (len(rows), len({row["kind"] for row in rows.values()})) == (2 * pairs, kinds)
    wrong = [row for row in rows.values() if not row["supported"]]
    assert len(wrong) == pairs
    for row in wrong:
        right = rows[f"{row['pair']}-right"]
        assert (right["inputs"], right["spans"]) == (row["inputs"], [])
        assert right["output"] != row["output"]
        for span in row["spans"]:
            assert row["output"][span["start"] : span["end"]] == span["text"]
        if name == "minimal_pairs":
            words = right["output"].split(), row["output"].split()
            changes = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
            changed = sum(end - at for tag, _, _, at, end in changes if tag != "equal")
            assert changed <= FEW, row["id"]
            assert row["spans"], row["id"]


def test_figures_are_those_that_hands_add_up(bench: ModuleType) -> None:
    def verdict(decision: str | None, suspicion: float | None) -> object:
        return bench.Verdict(decision=decision, suspicion=suspicion)

    pairs = [
        bench.Pair(kind="unit", is_reworded=False, right=verdict(*right), wrong=verdict(*wrong))
        for right, wrong in (
            (("ok", 0.0), ("faulty", 2.0)),
            (("faulty", 1.0), ("ok", 0.0)),
            (("unsure", 1.0), ("ok", 1.0)),
            (("ok", 0.0), (None, None)),
        )
    ]
    figures = bench.figures_of(pairs)
    assert (figures.wrong_ok, figures.right_faulty, figures.decided) == (2 / 4, 1 / 4, 6 / 8)
    assert (figures.right_of_decided, figures.order_by_score) == (3 / 6, (1 + 0 + 0.5) / 3)
    assert math.isnan(figures.order_by_probability)
    met = [is_met for _, is_met in bench.demands(pairs, pairs[:1])]
    assert met == [False, False, True, False, True, True]
    assert "1 one-sentence contradictions: 0 ok, 1 faulty, 0 undecided." in bench.counts(pairs[:1])
    assert "| near | 4 | 50% | 25% | 75% | 50% | 50% | - |" in bench.table(pairs)
