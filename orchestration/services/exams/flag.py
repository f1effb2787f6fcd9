"""A parameter as the command line shows it."""

from dataclasses import KW_ONLY, dataclass


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
