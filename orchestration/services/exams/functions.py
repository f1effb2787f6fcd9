"""The functions of studies in Python, whose keywords are the fields of the studies."""

from collections.abc import Callable, Collection, Coroutine
from functools import wraps
from inspect import Signature, cleandoc, signature
from typing import Annotated, ParamSpec, Protocol, TypeVar, get_args, get_origin

from spanjury.judges.core import ConfigError, check_arguments, fitted, is_number
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import own_parameters

with lazily():
    from spanjury.orchestration.services.judging import synchronous

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Study(Protocol[T_co]):
    """A question, whose fields are the keywords of its function."""

    async def answer(self) -> T_co:
        """Return the answer."""


def from_python(
    study: Callable[P, Study[T]], *, name: str
) -> tuple[Callable[P, Coroutine[object, object, T]], Callable[P, T]]:
    """Return a study's functions, whose keywords are its fields: to await, and to call."""

    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature(study).bind(*args, **kwargs)
        bound.arguments.update(fitted(study, bound.arguments))
        made = study(*bound.args, **bound.kwargs)
        _check_values(made)
        return await made.answer()

    given = [
        parameter.replace(annotation=_bare(parameter.annotation))
        for parameter in signature(study).parameters.values()
    ]
    run.__name__ = run.__qualname__ = f"a{name}"
    run.__doc__ = _explained(study)
    run.__signature__ = Signature(given)  # type: ignore[attr-defined]  # what `help` shows

    @wraps(run)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        # Made at the call: it loads anyio, which the help of commands does without.
        at_once = synchronous.synchronous(run, name=name, doc=_explained(study))
        return at_once(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    return run, called


def _check_values(study: Study[object]) -> None:
    """Raise `ConfigError` if a parameter has another type than declared, or is out of bounds."""
    kind = type(study)
    values = {name: getattr(study, name) for name in signature(kind).parameters}
    own = own_parameters(kind)
    if "panel" not in own:
        values.pop("panel", None)  # `panel_config` says why an open panel cannot be used
    check_arguments(kind, values)
    for name, (_, parameter, *_) in own.items():
        value, low, high = values[name], parameter.min, parameter.max
        for each in value if isinstance(value, Collection) else (value,):
            if not is_number(each):
                continue
            if low is not None and not each >= low:
                raise ConfigError(f"{name} must be {low} or more, got {each!r}")
            if high is not None and not each <= high:
                raise ConfigError(f"{name} must be {high} or less, got {each!r}")


def _bare(annotation: object) -> object:
    """Return an annotation without the `Parameter` that stands with it."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind = get_args(annotation)[0]
    return getattr(kind, "__forward_arg__", kind)


def _explained(study: object) -> str:
    """Return what a study does, its parameters and those that it inherits, and its errors."""
    assert isinstance(study, type)
    does = cleandoc(study.__doc__ or "").partition(_titled("Parameters"))[0]
    own = "".join(
        f"{name}\n    {each.parameter.help}\n" for name, each in own_parameters(study).items()
    )
    parameters = _titled("Parameters", own + _section(study, "Parameters"))
    return f"{does}{parameters.rstrip()}{_titled('Raises', _section(study, 'Raises'))}\n"


def _section(study: type[object], title: str) -> str:
    """Return what the docstrings of a study and of its bases say under a title."""
    docs = (cleandoc(base.__doc__ or "") for base in study.__mro__)
    texts = (doc.partition(_titled(title))[2].partition("\n\n")[0] for doc in docs)
    return "\n".join(filter(None, texts))


def _titled(title: str, text: str = "") -> str:
    return f"\n\n{title}\n{'-' * len(title)}\n{text}"
