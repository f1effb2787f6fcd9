"""Number formats: every number of a report is formatted here, so that a missing one is `-`."""

import math


def figure(value: float | None, spec: str = "") -> str:
    """Format a number; `-` if there is none.

    Parameters
    ----------
    value
        None and NaN count as missing.
    spec
        As in `format`; by default two decimals for floats and all digits for integers.

    Examples
    --------
    >>> figure(0.125, ".0%"), figure(0.25, "+.3f"), figure(math.nan), figure(12), figure(0.5)
    ('12%', '+0.250', '-', '12', '0.50')
    """
    if value is None or math.isnan(value):
        return "-"
    return format(value, spec or _usual(value))


def bracketed(interval: tuple[float, float], spec: str = "") -> str:
    """Format an interval in brackets; empty if it has no ends.

    Examples
    --------
    >>> bracketed((-0.1, 0.25), "+.2f")
    '[-0.10, +0.25]'
    """
    low, high = interval
    if math.isnan(low) and math.isnan(high):
        return ""
    return f"[{figure(low, spec)}, {figure(high, spec)}]"


def between(low: float | None, high: float | None, spec: str = "") -> str:
    """Format an interval with *to* between its ends; `-` if an end is missing.

    Examples
    --------
    >>> between(0.1, 0.25), between(None, 0.25)
    ('0.10 to 0.25', '-')
    """
    ends = figure(low, spec), figure(high, spec)
    return "-" if "-" in ends else " to ".join(ends)


def defined(value: float) -> float | None:
    """Return a number for JSON: None if it is undefined or infinite."""
    return float(value) if math.isfinite(value) else None


def _usual(value: object) -> str:
    return ".2f" if isinstance(value, float) else ""
