"""Decision: whether a text may be used as it is, on one aspect."""

from enum import StrEnum


class Decision(StrEnum):
    """Advice of a report."""

    OK = "ok"
    """No error was found."""
    DOUBTFUL = "doubtful"
    """There may be an error: a person should look."""
    FAULTY = "faulty"
    """The text has an error."""
