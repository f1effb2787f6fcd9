"""Validate plugins when they are loaded, before anything is paid for.

Otherwise a judge or an aggregation of the wrong shape would cost every row of a run, or end the run
with a traceback of third-party code.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar, cast, get_args

from spanjury.judges.core import (
    Aggregation,
    AskedChecker,
    ChatModel,
    Checker,
    CheckerLimits,
    ClaimUnit,
    Consolidator,
    CorpusMetric,
    DataError,
    Judge,
    Metric,
    ModelOpener,
    PairJudge,
    PluginError,
    Scale,
    Segment,
    SegmentMetric,
    Source,
    failing_as,
    is_number,
)
from spanjury.orchestration.wiring.plugins import not_awaitable

A = TypeVar("A")

_SCORES = ((2.0,), (2.0, 4.0), (2.0, 4.0, 4.0))
"""Sample scores that every aggregation must be able to combine."""
_END = object()


def checked_judge(made: object, name: str) -> Judge:
    """Return `made` if it is a judge.

    Raise `PluginError` if it has no signature, or its ``assess`` does not accept a segment and an
    aspect or is not async.
    """
    _check_asked(made, f"judge {name!r}", method="assess", arguments=("segment", "aspect"))
    return cast("Judge", made)  # its parts are checked


def checked_pair_judge(made: object, name: str) -> PairJudge:
    """Return `made` if it is a pair judge; raise `PluginError` like `checked_judge`."""
    _check_asked(made, f"pair judge {name!r}", method="compare", arguments=("pair", "aspect"))
    return cast("PairJudge", made)  # its parts are checked


def checked_consolidator(made: object, name: str) -> Consolidator:
    """Return `made` if it is a consolidator; raise `PluginError` like `checked_judge`."""
    _check_asked(made, f"consolidator {name!r}", method="consolidate", arguments=("verdict",))
    return cast("Consolidator", made)  # its parts are checked


def checked_model(made: object, name: str) -> ChatModel:
    """Return `made` if it is a model; raise `PluginError` like `checked_judge`."""
    _check_asked(made, f"model {name!r}", method="complete", arguments=("request",))
    return cast("ChatModel", made)  # its parts are checked


def _check_asked(made: object, what: str, *, method: str, arguments: Sequence[str]) -> None:
    """Raise `PluginError` unless `made` has a signature and a method that is async."""
    _check_signature(made, what)
    if not hasattr(made, method):
        raise PluginError(f"{what} lacks {method}: {made!r}")
    _check_async(getattr(made, method), f"{what}: {method}", arguments=arguments)


def checked_checker(made: object, name: str) -> Checker | AskedChecker:
    """Return `made` if it is a checker.

    Raise `PluginError` if it lacks a part, or its signature or its unit is invalid.
    """
    what = f"checker {name!r}"
    _check_signature(made, what)
    if isinstance(made, AskedChecker):
        _check_async(made.ask, f"{what}: ask", arguments=("pairs",), named=("segment", "aspect"))
    elif not isinstance(made, Checker):
        raise PluginError(
            f"{what} lacks unit, room, count_tokens or check, or apart and ask in place"
            f" of check: {made!r}"
        )
    for method, argument in (("room", ()), ("count_tokens", ("texts",)), ("check", ("pairs",))):
        if hasattr(made, method):
            check_plain(getattr(made, method), f"{what}: {method}", arguments=argument)
    limits: object = getattr(made, "limits", CheckerLimits())
    if not isinstance(limits, CheckerLimits):
        raise PluginError(f"{what}: its limits must be CheckerLimits, got {limits!r}")
    unit: object = made.unit
    if unit not in get_args(ClaimUnit):
        units = ", ".join(get_args(ClaimUnit))
        raise PluginError(f"{what}: its unit must be one of {units}, got {unit!r}")
    return made


def checked_metric(made: object, name: str) -> Metric:
    """Return `made` if it is a metric.

    Raise `PluginError` if it has no signature, scores neither segments nor a corpus, or one of its
    methods does not accept samples or is async.
    """
    what = f"metric {name!r}"
    _check_signature(made, what)
    if not isinstance(made, SegmentMetric | CorpusMetric):
        raise PluginError(f"{what} has neither score_segments nor score_corpus: {made!r}")
    for method in ("score_segments", "score_corpus", "statistics", "score_statistics"):
        scoring = getattr(made, method, None)
        if scoring is not None:
            check_plain(scoring, f"{what}: {method}", arguments=("samples",))
    return made


def checked_source(made: Callable[..., object], name: str) -> Source:
    """Return `made` if it is a function of a path; raise `PluginError` otherwise."""
    check_plain(made, f"source {name!r}", arguments=("path",))
    return cast("Source", made)  # what it yields shows when it reads


def checked_opener(made: Callable[..., object], name: str) -> ModelOpener:
    """Return `made` if it can open models; raise `PluginError` otherwise."""
    what = f"model backend {name!r}"
    _check_arguments(made, what, arguments=("name",), named=("options",))
    if inspect.isasyncgenfunction(made) or inspect.iscoroutinefunction(made):
        raise PluginError(f"{what} must return an async context manager: @asynccontextmanager")
    return cast("ModelOpener", made)  # what it returns shows when it is opened


def checked_aggregation(made: object, name: str) -> Aggregation:
    """Return `made` if it combines scores into one on their scale; raise `PluginError` otherwise.

    It is called with one, two and three scores.
    """
    if not callable(made):
        raise PluginError(f"aggregation {name!r} is not a function of scores: {made!r}")
    scale = Scale()
    for scores in _SCORES:
        score = call_plugin(made, scores, what=f"aggregation {name!r} of {scores}")
        if not (is_number(score) and score in scale):
            raise PluginError(
                f"aggregation {name!r} must return a number on the scale, here {scale.low} to"
                f" {scale.high}, and returned {score!r} for {scores}"
            )
    return cast("Aggregation", made)  # it has just combined scores


def checked_rows(
    source: Callable[[Path], Iterable[object]], name: str, *, path: Path
) -> Iterator[Segment | DataError]:
    """Return the rows of a source.

    Raise `PluginError` if the source raises anything but an `EvaluationError`, or yields anything
    but a segment or a `DataError`.
    """
    what = f"source {name!r}, reading {path}"
    rows = cast("Iterator[object]", call_plugin(lambda at: iter(source(at)), path, what=what))

    def sound() -> Iterator[Segment | DataError]:
        while (row := call_plugin(partial(next, rows), _END, what=what)) is not _END:
            if not isinstance(row, Segment | DataError):
                raise PluginError(f"{what}: expected a Segment or a DataError, got {row!r}")
            yield row

    return sound()


def _check_signature(made: object, what: str) -> None:
    if isinstance(made, type):
        raise PluginError(f"{what} is a class: an object is needed, {made.__name__}()")
    with failing_as(
        lambda error: PluginError(f"{what}: its signature cannot be read: {error!r}"), passing=()
    ):
        signature: object = getattr(made, "signature", None)
    if signature is None:
        raise PluginError(f"{what} lacks a signature: {made!r}")
    if not (isinstance(signature, str) and signature):
        raise PluginError(f"{what}: its signature must be a text that is not empty: {signature!r}")


def _check_async(
    method: Callable[..., object], what: str, *, arguments: Sequence[str], named: Sequence[str] = ()
) -> None:
    """Raise `PluginError` if a method does not accept `arguments` or is not async.

    A plain function may return an awaitable, such as a decorated one; then its annotation must say
    so, or it must wrap an async function.
    """
    signature = _check_arguments(method, what, arguments=arguments, named=named)
    awaitable = any(word in str(signature.return_annotation) for word in ("Awaitable", "Coroutine"))
    is_plain = inspect.ismethod(method) or inspect.isfunction(method)
    if is_plain and not (awaitable or inspect.iscoroutinefunction(inspect.unwrap(method))):
        raise PluginError(f"{what} must be async: write `async def`")


def check_plain(
    function: Callable[..., object],
    what: str,
    *,
    arguments: Sequence[str],
    named: Sequence[str] = (),
) -> None:
    """Raise `PluginError` if a function does not accept `arguments` or is async."""
    _check_arguments(function, what, arguments=arguments, named=named)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PluginError(f"{what} must not be async: write `def`")


def _check_arguments(
    function: Callable[..., object],
    what: str,
    *,
    arguments: Sequence[str],
    named: Sequence[str] = (),
) -> inspect.Signature:
    """Return the signature of a function; raise `PluginError` if it does not accept `arguments`."""
    try:
        signature = inspect.signature(function)
        signature.bind(*arguments, **dict.fromkeys(named))
    except (TypeError, ValueError) as error:
        takes = ", ".join((*arguments, *(f"{name}=…" for name in named)))
        raise PluginError(f"{what} must take ({takes}), and does not: {error}") from error
    return signature


def call_plugin(made: Callable[[A], object], argument: A, *, what: str) -> object:
    """Return a plugin function's result for `argument`.

    Raise `PluginError` if it fails, or is async.
    """
    with failing_as(lambda error: PluginError(f"{what} failed: {error!r}")):
        return not_awaitable(made(argument), what)
