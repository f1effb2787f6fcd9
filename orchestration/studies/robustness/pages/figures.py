"""Shares and intervals as they are printed."""

import math

__all__ = ["between", "figure"]


def figure(value: float, *, signed: bool = False) -> str:
    """Format a share with three decimals; ``-`` where there is none.

    Examples
    --------
    >>> figure(0.25), figure(0.25, signed=True), figure(float("nan"))
    ('.250', '+.250', '-')
    """
    if math.isnan(value):
        return "-"
    text = f"{value:+.3f}" if signed else f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def between(low: float, high: float) -> str:
    """Format an interval; ``-`` where there is none."""
    return "-" if math.isnan(low) or math.isnan(high) else f"{figure(low)} to {figure(high)}"
