"""What the annotator is told when it is to score an error list that is not its own.

The conversation is that of `spanjury.judges.llm.prompt`, word for word; what is added
stands behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.judges.core import Aspect, Message
from spanjury.judges.llm.prompt import PromptOptions, alternatives, score_words
from spanjury.judges.llm.recite import cue
from spanjury.judges.text import fill_template

__all__ = ["ScoreForm"]

_PACKAGE = "spanjury.judges.llm"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreForm:
    """The question for the score alone, on one aspect, with the mark of the conversation."""

    aspect: Aspect
    options: PromptOptions
    mark: str

    def restated(self, conversation: Sequence[Message], *, recital: str) -> tuple[Message, ...]:
        """Return `conversation`, a reply with the list and no score, and the question for it.

        The list is a turn of the assistant: it is to be taken for the judge's own.
        """
        listed = recital.removesuffix(cue(self.mark)).rstrip("\n")
        said = Message(role="assistant", content=listed)
        return (*conversation, said, Message(role="user", content=self._fill("restate.txt")))

    def ask_to_continue(self, problem: str) -> Message:
        """Return the message after a continuation that began with something else."""
        return Message(role="user", content=self._fill("continue-reask.txt", problem=problem))

    def ask_again(self, problem: str) -> Message:
        """Return the message after an answer without a score."""
        return Message(role="user", content=self._fill("restate-reask.txt", problem=problem))

    def grammar(self, *, continued: bool) -> str:
        """Return a GBNF grammar of the score alone; behind the cue, with the blank before it."""
        about = {
            "blank": '" " ' if continued else "",
            "scores": alternatives(score_words(self.aspect, self.options)),
        }
        return fill_template(_PACKAGE, "score.gbnf", about)

    def _fill(self, name: str, *, problem: str = "") -> str:
        about = {
            "problem": problem,
            "cue": cue(self.mark),
            "aspect": self.aspect.name.replace("-", " "),
            "output": self.aspect.task.output_header,
            "scores": ", ".join(score_words(self.aspect, self.options)),
        }
        return fill_template(_PACKAGE, name, about)
