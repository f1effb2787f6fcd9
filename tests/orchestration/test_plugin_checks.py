import math
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fakes.checker import FakeChecker
from fakes.judges import PanicError
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
from spanjury.judges.core.registry import Registry
from spanjury.judges.metrics.scores import measured
from spanjury.orchestration.wiring.checks import (
    checked_aggregation,
    checked_checker,
    checked_judge,
    checked_rows,
)
from spanjury.orchestration.wiring.contracts import check_contract
from spanjury.orchestration.wiring.exam_plugins import find_perturbation, find_statistic
from spanjury.orchestration.wiring.metrics import open_metric
from spanjury.orchestration.wiring.plugins import (
    ATTACKS,
    EXPLANATION_PERTURBATIONS,
    PERTURBATIONS,
    STATISTICS,
    built,
    parameters,
)
from spanjury.perturbations.attacks.attack import output_attack
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.explanation.perturbation import explanation_perturbation
from spanjury.perturbations.perturbation import (
    Case,
    case_perturbation,
    generator_for,
    text_perturbation,
)
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
        (Async, r"is a class: an object is needed, Async\(\)"),
        (SimpleNamespace(signature="x"), "lacks assess"),
        (Unreadable(), r"its signature cannot be read: KeyError\('folder'\)"),
    ):
        with pytest.raises(PluginError, match=f"judge 'x'.*{reason}"):
            checked_judge(wrong, "x")


def test_an_aggregation_makes_a_number_of_scores() -> None:
    assert checked_aggregation(max, "max")([1.0, 2.0]) == 2.0

    async def asynchronous(_: object) -> float:
        return 3.0

    def panics(_: object) -> float:
        raise PanicError("rust")

    for wrong, reason in (
        (3, "is not a function of scores"),
        (lambda _: None, "must return a number on the scale, here 1 to 5, and returned None"),
        (lambda _: math.nan, "returned nan"),
        (lambda _: 9.59, r"returned 9.59 for \(2.0,\)"),
        (lambda scores: float(sum(scores)), r"returned 6.0 for \(2.0, 4.0\)"),
        (lambda scores: scores[9], r"of \(2.0,\) failed: IndexError"),
        (lambda scores: scores.sort(), "failed: AttributeError"),
        (statistics.stdev, "failed: StatisticsError"),
        (lambda scores: math.nan if len(scores) == 3 else 3.0, "returned nan"),
        (asynchronous, "must not be async: write `def`"),
        (panics, r"failed: PanicError\('rust'\)"),
    ):
        with pytest.raises(PluginError, match=f"aggregation 'x'.*{reason}"):
            checked_aggregation(wrong, "x")


def test_a_checker_has_plain_methods_of_their_arguments() -> None:
    assert checked_checker(FakeChecker(), "x").unit == "sentence"

    async def check(pairs: object) -> None:
        del pairs

    for wrong, reason in (
        ({"check": check}, "check must not be async"),
        ({"check": lambda: None}, r"check must take \(pairs\)"),
        ({"count_tokens": check}, "count_tokens must not be async"),
        ({"room": 200}, r"room must take \(\)"),
    ):
        fake = FakeChecker()
        usual = {"room": fake.room, "count_tokens": fake.count_tokens, "check": fake.check}
        made = SimpleNamespace(signature="x", unit="sentence", **{**usual, **wrong})
        with pytest.raises(PluginError, match=f"checker 'x': {reason}"):
            checked_checker(made, "x")


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


async def _is_async(text: str, rng: Generator) -> str:
    raise NotImplementedError


async def _yields_later(text: str, rng: Generator) -> AsyncIterator[Edit]:
    yield Edit(start=0, end=0, text=text)


def _takes_a_text(text: str) -> str:
    return text


def _needs_an_option(text: str, rng: Generator, *, k: int) -> str:
    return text * k


def _returns_nothing(text: str, rng: Generator) -> None:
    return None


def _changes_nothing(text: str, rng: Generator) -> str:
    return text


@pytest.mark.parametrize(
    ("made_by", "registry"),
    [
        (text_perturbation(family="f", level="word"), PERTURBATIONS),
        (case_perturbation(family="f", level="word"), PERTURBATIONS),
        (explanation_perturbation(push="falls", family="removal"), EXPLANATION_PERTURBATIONS),
        (output_attack(family="f"), ATTACKS),
    ],
)
def test_a_rule_is_bound_and_tried_before_it_is_used(
    made_by: Callable[[object], object],
    registry: Registry[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def checked(rule: object) -> str:
        monkeypatch.setattr(Registry, "get", lambda *_: made_by(rule))
        return check_contract(registry.group, "x")

    for rule, reason in (
        (_is_async, "its rule must not be async: write `def`"),
        (_yields_later, "its rule must not be async: write `def`"),
        (_takes_a_text, r"its rule must take \(\w+, rng\), and does not"),
        (_returns_nothing, "'x', used on a sample: the (rule|attack) failed: TypeError"),
    ):
        with pytest.raises(PluginError, match=reason):
            checked(rule)
    assert checked(_needs_an_option) == "'x' needs the option k"


def test_a_rule_that_finds_nothing_in_the_sample_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    made = text_perturbation(family="f", level="word")(_changes_nothing)
    monkeypatch.setattr(Registry, "get", lambda *_: made)
    assert not check_contract(PERTURBATIONS.group, "x")


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

    def panics() -> object:
        raise PanicError("rust")

    async def asynchronous() -> object:
        raise NotImplementedError

    with pytest.raises(PluginError, match=r"'x' cannot be made: PanicError\('rust'\)"):
        built(panics, "x", {})
    with pytest.raises(PluginError, match="the factory of 'x' must not be async"):
        built(asynchronous, "x", {})


def test_a_factory_that_collects_options_takes_any() -> None:
    def collects(size: int = 1, *rest: object, **options: object) -> object:
        return size, rest, options

    assert built(collects, "x", {"size": "3", "words": "a"}) == (3, (), {"words": "a"})
    assert set(parameters(collects)) == {"size"}
