"""The summary of a training set of the token form."""

from collections import Counter
from dataclasses import dataclass, field

from spanjury.orchestration.report import Cell, Paragraph, Report, numeric, table
from spanjury.orchestration.studies.distillation.tokens.example import TokenExample


@dataclass(slots=True)
class TokenInventory:
    """Counts of the examples that were made, and of rows that were left out."""

    made: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(origin of the labels, data set, supported or not) -> examples."""
    overlapping: Counter[str] = field(default_factory=Counter)
    """Data set -> rows that share text with what is measured on."""

    @property
    def examples(self) -> int:
        """Examples in all."""
        return self.made.total()

    def add(self, example: TokenExample) -> None:
        """Count one example in."""
        kind = "with an error" if example.label > 0 else "supported"
        self.made[example.made_of, example.dataset, kind] += 1


def token_set_report(inventory: TokenInventory) -> Report:
    """Return the table of what a set holds, and what was left out of it."""
    overlapping = sorted(inventory.overlapping.items())
    return Report(
        title="Training set",
        sections=[
            table(
                ["labels by", "data set", "text", *numeric("examples")],
                ([*key, Cell(count, ",")] for key, count in sorted(inventory.made.items())),
                title="Training set",
            ),
            *(
                Paragraph(f"left out of {name}: {count} that share text with --evaluation")
                for name, count in overlapping
            ),
        ],
    )
