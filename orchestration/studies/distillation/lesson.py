"""From a text and the report that is due on it to an example."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from spanjury.judges.core import Aspect, Report
from spanjury.judges.llm.percent import Reading
from spanjury.judges.llm.short_prompt import messages_for, target_for
from spanjury.orchestration.studies.distillation.examples import Example, Licences, Provenance
from spanjury.orchestration.studies.distillation.rows import Row

__all__ = ["Lesson"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What all examples of one training set have in common.

    Parameters
    ----------
    seed
        Of all that was drawn for it.
    reading
        What becomes of the scores.
    teachers
        Judge or model of the panel -> licence of what it says; empty for damage.
    """

    seed: int = 1
    reading: Reading = "stretched"
    teachers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def example(
        self,
        row: Row,
        aspect: Aspect,
        *,
        report: Report,
        output: str | None = None,
        panel: str = "",
        damages: tuple[str, ...] = (),
    ) -> Example:
        """Return the example that teaches `report`.

        Parameters
        ----------
        row, aspect
            What is judged.
        report
            What is to be said of it; it has a score.
        output
            The text in place of the row's own, if that was damaged.
        panel, damages
            How the report came about, as in `Provenance`.
        """
        segment = row.segment if output is None else replace(row.segment, output=output)
        return Example(
            dataset=row.dataset,
            input_id=row.input_id,
            system=segment.system,
            inputs=segment.inputs,
            output=segment.output,
            task=aspect.task.name,
            aspect=aspect.name,
            definition=aspect.definition,
            report=report,
            messages=messages_for(segment, aspect),
            target=target_for(report, aspect.scale, reading=self.reading),
            split=row.split,
            provenance=Provenance(
                source=row.source,
                row=segment.segment_id,
                panel=panel,
                damages=damages,
                seed=self.seed,
            ),
            licences=Licences(source=row.licence, teachers=self.teachers),
            labels=aspect.scale.labels,
            reading=self.reading,
        )
