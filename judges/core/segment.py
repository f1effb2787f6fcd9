"""A segment: one system's output for one input, with all that a judge may use."""

import copyreg
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

from spanjury.judges.core.span import ErrorSpan
from spanjury.judges.core.trajectory import Trajectory

_NOTHING: Mapping[str, str] = MappingProxyType({})
_UNRATED: Mapping[str, Mapping[str, float]] = MappingProxyType({})
_NO_META: Mapping[str, object] = MappingProxyType({})


_Proxy = MappingProxyType[object, object]


def _read_only(mapping: dict[object, object]) -> _Proxy:
    return MappingProxyType(mapping)


def _reduced(proxy: _Proxy) -> tuple[Callable[..., _Proxy], tuple[dict[object, object]]]:
    return _read_only, (dict(proxy),)


# Python can neither copy nor pickle read-only mappings, and segments, tasks and reports hold them.
if MappingProxyType not in copyreg.dispatch_table:  # another package may have registered it
    copyreg.pickle(MappingProxyType, _reduced)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One output to be judged.

    Raises `ValueError` if the output is not a string, the inputs do not map headers to strings, or
    the references are one string.

    Parameters
    ----------
    segment_id
        Unique within a data set; if empty, it is derived from output and inputs.
    output
        The judged text; may be empty, and is judged all the same.
    inputs
        Header -> text of each input of the system, such as ``{"Article": "…"}``.
    task
        Name of the task; empty if the run decides.
    references
        Texts that people would have accepted.
    system
        Name of the system that wrote the output.
    human
        Aspect -> rater -> score; the rater of an anonymous score is ``""``.
    gold
        Error spans marked by people.
    meta
        Other fields of the row; judges never see them.
    before
        The text before the output, if the output is a sentence of a longer text, which may
        continue after it. It helps to understand the output and is not judged. None if the output
        is the whole text.
    trajectory
        The trajectory from which output and inputs were made
        (`spanjury.judges.core.transcript.segment_of`), if the output is an agent's; else None.
    """

    segment_id: str = ""
    output: str
    inputs: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    task: str = ""
    references: tuple[str, ...] = ()
    system: str = ""
    human: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: _UNRATED)
    gold: tuple[ErrorSpan, ...] = ()
    meta: Mapping[str, object] = field(default_factory=lambda: _NO_META)
    before: str | None = None
    trajectory: Trajectory | None = None

    def __post_init__(self) -> None:
        _check_texts(self.output, self.inputs)
        if isinstance(self.references, str):  # which is a sequence of texts, too
            got = repr(self.references)[:80]
            raise ValueError(f"references must be a tuple of texts, got {got}")  # noqa: TRY004  as below
        if not self.segment_id:
            object.__setattr__(self, "segment_id", self._made_id())  # the dataclass is frozen

    def _made_id(self) -> str:
        texts = chain((self.output,), *self.inputs.items())
        whole = "\0".join(texts).encode("utf-8", "surrogatepass")
        return f"text-{hashlib.sha256(whole).hexdigest()[:12]}"

    def human_score(self, aspect: str) -> float | None:
        """Return the mean of the raters' scores on `aspect`, or None if it has no rating."""
        scores = self.human.get(aspect, {}).values()
        return sum(scores) / len(scores) if scores else None


def _check_texts(output: object, inputs: object) -> None:
    """Refuse arguments of wrong types, which a caller without a type checker may pass."""
    if not isinstance(output, str):
        raise ValueError(f"output must be a text, got {type(output).__name__}")  # noqa: TRY004  as every invariant here
    expected = 'inputs must map headers to texts, as {"Article": "…"}; got a '
    if not isinstance(inputs, Mapping):
        raise ValueError(expected + type(inputs).__name__)  # noqa: TRY004  as above
    if not all(isinstance(text, str) for text in (*inputs, *inputs.values())):
        raise ValueError(f"{expected}{type(inputs).__name__} with other things")
