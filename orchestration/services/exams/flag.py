"""Flags of commands, and parameters of studies, which are flags and keywords in Python."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, fields
from inspect import get_annotations
from typing import Annotated, Any, NamedTuple, get_args, get_origin


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag that is spelled as its field: ``max_cost`` is ``--max-cost``, ``for_`` is ``--for``.

    Parameters
    ----------
    help
        Its line in the help.
    metavar
        The word for its value; by default N, NAME or FILE, as its type is.
    also
        One more spelling, as ``-o``, or several.
    env
        Whether a variable of the environment stands for it, as ``SPANJURY_MAX_COST``; or which.
    min, max
        Its bounds.
    rare
        Whether few need it: ``--help-all`` alone shows it.
    hidden
        Whether no help shows it.
    bare
        Its value where it stands alone; any other follows behind ``=``. None if it needs one.
    dash
        Whether its file may be ``-``, which stands for a standard stream.
    """

    help: str
    metavar: str | None = None
    _: KW_ONLY
    also: str | tuple[str, ...] = ()
    env: bool | str | tuple[str, ...] = False
    min: float | None = None
    max: float | None = None
    rare: bool = False
    hidden: bool = False
    bare: str | None = None
    dash: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Flag):
    """A parameter of a study: a keyword in Python, and a flag of its command.

    Parameters
    ----------
    name
        The flag's name where it is not the field's, as ``attack`` for `attacks`.
    kind
        The flag's type where it is not the field's.
    read
        Makes the field's value of the flag's, if one is given.
    address
        Where it names a model: the field with the addresses of its server.
    section
        Title of its group in the help, where the study has several.
    usual
        The flag's default where it is not the field's.
    """

    name: str = ""
    kind: object = None
    read: Callable[[Any], object] | None = None
    address: str = ""
    section: str = ""
    usual: object = None


SEED = Parameter("Seed for resampling.")
DRAWS = Parameter("Number of bootstrap resamples; 0 for no intervals.", min=0)
CORRELATION = Parameter("Correlation coefficient.")


class Declared(NamedTuple):
    """A field of a study that is a `Parameter`.

    `default` is ``MISSING`` if it has none. A positional one is an argument of the command.
    """

    kind: object
    parameter: Parameter
    default: object = MISSING
    is_positional: bool = False


def own_parameters(study: type[Any]) -> Mapping[str, Declared]:
    """Return the fields that a study declares as parameters, in order."""
    declared: dict[str, Declared] = {}
    for each in fields(study):
        annotation: object = each.type
        if isinstance(annotation, str) and "Annotated" in annotation:
            # The study's module imports `annotations`.
            owner = next(base for base in study.__mro__ if each.name in get_annotations(base))
            annotation = get_annotations(owner, eval_str=True)[each.name]
        if get_origin(annotation) is Annotated:
            kind, parameter = get_args(annotation)
            declared[each.name] = Declared(kind, parameter, each.default, not each.kw_only)
    return declared
