import math
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import ArrayLike

from spanjury.judges.core import (
    Aspect,
    DataError,
    MetricError,
    PerturbationError,
    PluginError,
    Report,
    Sample,
    Segment,
)
from spanjury.judges.metrics.scores import measured
from spanjury.orchestration.wiring.checks import checked_aggregation, checked_judge, checked_rows
from spanjury.orchestration.wiring.exam_plugins import find_perturbation, find_statistic
from spanjury.orchestration.wiring.metrics import open_metric
from spanjury.orchestration.wiring.plugins import PERTURBATIONS, STATISTICS, built, parameters
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import Case, generator_for, text_perturbation
from spanjury.stats.significance.paired import PairedTest, paired


@dataclass(frozen=True)
class Async:
    signature: str = "async"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        raise NotImplementedError


class Blocking(Async):
    def assess(self, segment: Segment, aspect: Aspect) -> Report:  # type: ignore[override]  # wrong
        raise NotImplementedError


class Passing(Async):
    def assess(self, segment: Segment, aspect: Aspect) -> Awaitable[Report]:  # type: ignore[override]  # allowed
        return Async().assess(segment, aspect)


class Narrow(Async):
    async def assess(self, segment: Segment) -> Report:  # type: ignore[override]  # wrong
        raise NotImplementedError


class Unreadable:
    @property
    def signature(self) -> str:
        raise KeyError("folder")


def test_a_judge_is_async_and_takes_a_segment_and_an_aspect() -> None:
    assert checked_judge(Async(), "x").signature == "async"
    assert checked_judge(Passing(), "x").signature == "async"
    for wrong, reason in (
        (Blocking(), "must be async: write `async def`"),
        (Narrow(), r"must take \(segment, aspect\)"),
        (Async(signature=""), "signature must be a text"),
        (object(), "lacks a signature"),
        (Async, "must be an object, and is a class"),
        (SimpleNamespace(signature="x"), "lacks assess"),
        (Unreadable(), r"its signature cannot be read: KeyError\('folder'\)"),
    ):
        with pytest.raises(PluginError, match=f"judge 'x'.*{reason}"):
            checked_judge(wrong, "x")


def test_an_aggregation_makes_a_number_of_scores() -> None:
    assert checked_aggregation(max, "max")([1.0, 2.0]) == 2.0
    for wrong in (3, lambda _: None, lambda _: math.nan, lambda scores: scores[9]):
        with pytest.raises(PluginError, match="aggregation 'x'"):
            checked_aggregation(wrong, "x")


def test_a_wrong_statistic_is_refused_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(function: object) -> None:
        monkeypatch.setattr(type(STATISTICS), "get", lambda *_: function)

    assert isinstance(find_statistic("signed-rank")([1.0, 2.0, math.nan]), PairedTest)
    fit = PairedTest(-1.0, 2.0, 1, 0, 0)
    for wrong, reason in (
        (lambda _: 0.03, "must return a PairedTest, and returned 0.03"),
        (lambda _: 1 / 0, "failed: ZeroDivisionError"),
        (lambda _: fit._replace(log_p=0.5), "p above 1"),
        (lambda _: fit._replace(log_p=-math.inf), "p is 0"),
        (lambda drops: paired(drops).answer(0.03, statistic=2.0), "natural logarithm.*got 0.03"),
        (lambda _: fit._replace(used=-1), "must be counts"),
        (lambda _: PairedTest("small", 2.0, 1, 0, 0), "must be numbers"),  # type: ignore[arg-type]  # wrong
        (None, "is not a function"),
    ):
        named(wrong)
        with pytest.raises(PluginError, match=reason):
            find_statistic("x")


def test_every_answer_of_a_statistic_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fickle(differences: ArrayLike) -> object:
        return PairedTest(-1.0, 2.0, 1, 0, 0) if np.size(differences) == 4 else "no test"

    monkeypatch.setattr(type(STATISTICS), "get", lambda *_: fickle)
    statistic = find_statistic("x")
    with pytest.raises(PluginError, match="returned 'no test'"):
        statistic([1.0])


def test_a_perturbation_is_one_and_returns_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_perturbation("typos").family
    monkeypatch.setattr(type(PERTURBATIONS), "get", lambda *_: print)
    with pytest.raises(PluginError, match="must be a Perturbation"):
        find_perturbation("x")
    for wrong in ([(0, 1, "b")], [Edit(0, 1, 3)], 7, [Edit(5, 9, "b")], None):  # type: ignore[arg-type]  # wrong

        def rule(_: str, __: Generator, gives: object = wrong) -> object:
            return gives

        made = text_perturbation(family="f", level="word")(rule)  # type: ignore[arg-type]  # wrong
        with pytest.raises(PerturbationError):
            made.damage(Case(text="abc"), generator_for(1, "rule", "a"))


def test_a_source_that_fails_or_yields_something_else_is_named() -> None:
    def rows(*values: object) -> Iterator[object]:
        yield from values
        raise KeyError("column")

    segment = Segment(segment_id="a", output="b")
    problem = DataError("line 3")
    path = Path("data.x")
    assert list(checked_rows(lambda _: [segment, problem], "x", path=path)) == [segment, problem]
    wrong = checked_rows(lambda _: rows("a text"), "x", path=path)
    with pytest.raises(PluginError, match="expected a Segment or a DataError, got 'a text'"):
        list(wrong)
    with pytest.raises(PluginError, match=r"source 'x', reading data.x failed: KeyError"):
        list(checked_rows(lambda _: rows(segment), "x", path=path))
    for source in (lambda _: None, lambda at: at.read_text()):
        with pytest.raises(PluginError, match=r"source 'x', reading data.x failed: "):
            checked_rows(source, "x", path=path)  # type: ignore[arg-type]  # another's code


def test_a_metric_that_fails_or_miscounts_raises_our_error() -> None:
    named = open_metric("f1")
    samples = [Sample(output="a", references=("a",)), Sample(output="b", references=("b",))]

    class Miscounting:
        signature = "miscounting"

        def score_segments(self, samples: list[Sample]) -> list[object]:
            return [object()] if samples[0].output == "a" else [1.0]

    wrong = replace(named, metric=Miscounting())
    with pytest.raises(MetricError, match="failed: TypeError"):
        measured(wrong, samples)
    with pytest.raises(MetricError, match="gave 1 scores for 2 texts"):
        measured(wrong, [samples[1]] * 2)


def test_errors_of_a_factory_become_errors_of_ours() -> None:
    def fails(size: "Unknown") -> object:  # type: ignore[name-defined]  # noqa: F821 - of type checkers only
        raise RuntimeError(f"no such lexicon: {size}")

    assert set(parameters(fails)) == {"size"}
    with pytest.raises(PluginError, match="'x' cannot be made: RuntimeError"):
        built(fails, "x", {"size": 3})
    with pytest.raises(PluginError, match="is not a function or class"):
        parameters(7)  # type: ignore[arg-type]  # wrong
