"""One example that a distilled judge is trained on: a prompt, the reply, and their origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from spanjury.judges.core import Message, Report, Scale
from spanjury.judges.llm.percent import Reading
from spanjury.orchestration.studies.distillation.splits import Split


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of an example.

    Parameters
    ----------
    panel
        Signature of the panel whose report is learnt; empty for damage.
    damages
        The damage to the text, in order; empty for a text as it was.
    """

    source: str
    row: str
    panel: str = ""
    damages: tuple[str, ...] = ()
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Licences:
    """The terms under which an example may be used.

    Parameters
    ----------
    source
        Licence of the text; empty where unknown.
    teachers
        Judge or model of the panel -> licence of what it says; empty for damage, which has
        no teacher.
    """

    source: str = ""
    teachers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A prompt, the reply that is due, and all that they were made of.

    Parameters
    ----------
    input_id
        Digest of the inputs; the same for inputs that differ in spelling only.
    system
        The system that wrote the text; empty where the row names none.
    inputs, output
        The text to judge; the prompt shows of the inputs what the aspect may look at.
    report
        The right answer: spans with offsets, and the score as it was before it was
        rounded, on the scale of the aspect.
    labels
        The labels of the aspect's scale, worst first.
    reading
        How the score became the number in `target`.
    """

    dataset: str
    input_id: str
    system: str = ""
    inputs: Mapping[str, str]
    output: str
    task: str
    aspect: str
    definition: str
    report: Report
    messages: tuple[Message, ...]
    target: str
    split: Split
    provenance: Provenance
    licences: Licences = field(default_factory=Licences)
    labels: tuple[str, ...] = Scale().labels
    reading: Reading = "stretched"
