"""Evidence: the place in the source that supports or contradicts an error span."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage of one input.

    Parameters
    ----------
    input
        Header of the input, as the segment names it.
    start, end
        Half-open offsets in code points of that input.
    text
        The passage itself, ``inputs[input][start:end]``.

    Raises
    ------
    ValueError
        If the offsets do not hold the text.
    """

    input: str
    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or self.end - self.start != len(self.text):
            raise ValueError(f"{(self.start, self.end)} does not hold {len(self.text)} characters")
