"""A sharper definition of an aspect, written by a model that was shown disagreements.

Source: Liu et al. (2024), "Calibrating LLM-Based Evaluator" (AutoCalibrate), section 3, where a
model drafts and refines scoring criteria from people's labels; here it refines a definition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanjury.judges.core import Aspect, ChatModel, Decoding, Message, Segment
from spanjury.judges.llm.typed_reply import TypedReply, ask_for
from spanjury.judges.llm.wording import fill_template
from spanjury.judges.tasks import describe
from spanjury.judges.text import fence

ROOM = 16_000
"""Maximum number of characters of the disagreements shown."""
_LONGEST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A text, with the reviews of people and of the judge in words."""

    segment: Segment
    people: str
    judge: str


# The docstring of this class is part of the JSON schema that the model sees.
@dataclass(frozen=True, slots=True, kw_only=True)
class SharperDefinition:
    """The words that define an aspect: what is judged, and what the ends of its scale are like."""

    definition: str
    worst: str
    best: str

    def of(self, aspect: Aspect) -> Aspect:
        """Return `aspect` with these words, each on one line and not too long.

        Raises `ValueError` if one of them is empty.
        """
        words = [
            " ".join(text.split())[:_LONGEST] for text in (self.definition, self.worst, self.best)
        ]
        if not all(words):
            raise ValueError("the definition, the worst or the best text is empty")
        return replace(aspect, definition=words[0], worst=words[1], best=words[2])


async def sharpened(
    aspect: Aspect, disagreements: Sequence[Disagreement], *, model: ChatModel
) -> TypedReply[SharperDefinition]:
    """Ask `model` for a sharper definition of `aspect`; raise `ModelError` if it gives no reply.

    The prompt shows the first disagreements, as many as fit into `ROOM`.
    """
    fenced = fence(_shown(aspect, disagreements))
    content = fill_template(
        "sharpen.txt",
        {
            "task_description": aspect.task.description,
            "aspect": aspect.spoken,
            "description": describe(aspect),
            "material": fenced.text,
            "mark": fenced.mark,
        },
    )
    return await ask_for(
        SharperDefinition,
        model=model,
        messages=[Message(role="user", content=content)],
        decoding=Decoding(max_tokens=1024),
    )


def _shown(aspect: Aspect, disagreements: Sequence[Disagreement]) -> Mapping[str, str]:
    shown: dict[str, str] = {}
    room = ROOM
    for number, item in enumerate(disagreements, start=1):
        inputs = aspect.view(item.segment.inputs).values()
        texts = {f"Text {number}, input {index}": text for index, text in enumerate(inputs, 1)}
        texts[f"Text {number}, text"] = item.segment.output
        texts[f"Text {number}, review by people"] = item.people
        texts[f"Text {number}, review by the judge"] = item.judge
        length = sum(map(len, texts.values()))
        if length <= room:
            shown |= texts
            room -= length
    return shown
