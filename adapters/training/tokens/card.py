"""The page that goes with an encoder trained to label words."""

from dataclasses import asdict, dataclass
from pathlib import Path

from spanjury.adapters.training.card import (
    CARD,
    data_lines,
    draw,
    option_lines,
    result_lines,
)
from spanjury.adapters.training.job import Progress
from spanjury.adapters.training.tokens.job import TokenJob
from spanjury.judges.core import VERSION, markdown

_LIMITS = (
    "It reads a sentence at a time, beside the passages of the source that share words with it."
    " What follows from arithmetic, from many places together or from knowledge of the world it"
    " cannot know. `spanjury bench spans` says what it is worth on marked texts."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCard:
    """A model card; `base` tells the base encoder from others."""

    job: TokenJob
    base: str
    device: str
    progress: Progress

    def write(self, folder: Path) -> None:
        """Write `CARD` into a folder, and the curves where matplotlib is installed."""
        draw(self.progress, folder)
        rows = [("training", len(self.job.windows)), ("validation", len(self.job.validation))]
        lines = [
            *self._front(),
            *data_lines(self.job.data, rows),
            "## Training",
            "",
            f"On {self.device}.",
            "",
            *option_lines(asdict(self.job.options)),
            *result_lines(self.progress, folder),
            "",
            "## Limits",
            "",
            _LIMITS,
        ]
        (folder / CARD).write_text("\n".join([*lines, ""]), encoding="utf-8")

    def _front(self) -> list[str]:
        return [
            "---",
            "pipeline_tag: token-classification",
            "language: en",
            "tags: [spanjury, error-spans, evaluation]",
            "---",
            "",
            "# A judge that reads each sentence beside its source",
            "",
            (
                f"Trained by spanjury {VERSION} from {markdown(self.base)}: a head labels each word"
                " as supported, contradicted or not in the source, another the whole sentence."
            ),
            "",
            "`--judge reader:weights=FOLDER` judges with it. It knows English.",
            "",
        ]
