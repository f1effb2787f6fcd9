"""Two methods by which an annotator scores an error list that is not its own.

Source: Terentowicz, Lango, Dušek (2025), section 3.1. Continued: the reply with the list is cut
before its score, and the model continues from there. Restated: the reply becomes a turn of the
conversation, and a new turn asks for the score.

Only a score may follow. If anything else follows, the request is repeated once and then reported as
unparseable. Such text is never skipped in search of a later score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    ErrorSpan,
    Finish,
    Message,
    Outcome,
    Reply,
    Report,
    Rescoring,
    RescoringMethod,
    Scale,
)
from spanjury.judges.llm.asking import Answer, ask
from spanjury.judges.llm.error_list import CUE, cue
from spanjury.judges.llm.expected_score import expected_first_word
from spanjury.judges.llm.geval_reply import read_score
from spanjury.judges.llm.grades import Grade
from spanjury.judges.llm.lines import without_reasoning
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parse import BREAKS_OFF, parse
from spanjury.judges.llm.prompt import PromptOptions, alternatives, score_words
from spanjury.judges.llm.wording import fill_template
from spanjury.judges.text import defused

_TOKENS = 32  # enough for a label; a longer continuation is something else
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedPrefix:
    """An error list in the judge's own form, and the conversation that asks for its score.

    Parameters
    ----------
    mark
        Mark of the labels in the conversation.
    text
        The reply with the list, up to the score.
    decoding
        Decoding of the judge's replies; a grammar is replaced by that of the score alone.
    material
        The judged texts; a score copied from them does not count.
    """

    aspect: Aspect
    options: PromptOptions
    mark: str
    conversation: tuple[Message, ...]
    text: str
    decoding: Decoding
    material: Material

    @property
    def words(self) -> tuple[str, ...]:
        """The spellings of the score, worst first."""
        return score_words(self.aspect, self.options)

    def ask(self, template: str, *, problem: str = "") -> Message:
        """Return the message that asks for the score, after a reply with a `problem`, if any."""
        slots = {
            "problem": problem,
            "cue": cue(self.mark),
            "aspect": self.aspect.spoken,
            "output": self.aspect.task.output_header,
            "scores": ", ".join(self.words),
        }
        return Message(role="user", content=fill_template(template, slots))

    def held(self, *, blank: str = "") -> Decoding:
        """Return the decoding with a grammar of the score alone, if it has one, after `blank`."""
        if not self.decoding.grammar:
            return self.decoding
        slots = {"blank": blank, "scores": alternatives(self.words)}
        return replace(self.decoding, grammar=fill_template("score.gbnf", slots))


async def continued(model: ChatModel, prefix: ForcedPrefix) -> Answer[Grade]:
    """Have `model` continue where the score is due; raise `ModelError` if it cannot."""
    model, scale, asked = defused(model), prefix.aspect.scale, prefix.held(blank='" " ')
    decoding = replace(asked, max_tokens=min(asked.max_tokens, _TOKENS))
    request = ChatRequest(messages=prefix.conversation, prefix=prefix.text, decoding=decoding)
    reply = await model.complete(request)
    grade, usage = _read_on(reply, scale=scale), reply.usage
    if grade.problem and reply.finish is not Finish.REFUSAL:
        message = Message(role="assistant", content=f"{prefix.text}{reply.text}")
        reask = prefix.ask("continue-reask.txt", problem=grade.problem)
        again = (*prefix.conversation, message, reask)
        reply = await model.complete(replace(request, messages=again))
        grade, usage = _read_on(reply, scale=scale), usage + reply.usage
    return Answer(reply=_cut_short(reply, grade), reading=grade, usage=usage)


async def restated(model: ChatModel, prefix: ForcedPrefix) -> Answer[Grade]:
    """Ask `model` for the score in a new turn; raise `ModelError` if it gives no reply.

    The list is a turn of the assistant, so that the model takes it for its own.
    """
    listed = prefix.text.removesuffix(cue(prefix.mark)).rstrip("\n")
    message = Message(role="assistant", content=listed)
    return await ask(
        model,
        ChatRequest(
            messages=(*prefix.conversation, message, prefix.ask("restate.txt")),
            decoding=prefix.held(),
        ),
        read=lambda reply: read_score(
            reply.text,
            aspect=prefix.aspect,
            material=prefix.material,
            cut=reply.finish is Finish.LENGTH,
        ),
        reask=lambda problem: prefix.ask("restate-reask.txt", problem=problem),
    )


def rescored(
    answer: Answer[Grade],
    spans: Sequence[ErrorSpan],
    *,
    method: RescoringMethod,
    words: Sequence[str],
) -> Rescoring:
    """Return the rescoring of `spans` by `method`; `words` spell the scores, worst first."""
    scored = answer.outcome is Outcome.SCORED
    return Rescoring(
        report=Report(
            outcome=answer.outcome,
            score=answer.reading.value if scored else None,
            spans=tuple(spans),
            reason=answer.reason,
            reply=answer.reply.text,
            usage=answer.usage,
        ),
        method=method,
        expected=expected_first_word(answer.reply, words=words).value if scored else None,
    )


def _read_on(reply: Reply, *, scale: Scale) -> Grade:
    """Read the score in the first line of the continuation, as the parser reads a whole reply."""
    lines = (without_reasoning(reply.text) or "").split("\n")
    written = [line.strip() for line in lines if line.strip()]
    if not written:
        return Grade(problem="no score was written")
    cut = reply.finish is Finish.LENGTH and len(written) == 1
    parsed = parse(f"{CUE} {written[0]}", scale=scale, cut=cut)
    if parsed.problem == BREAKS_OFF:
        return Grade(problem=BREAKS_OFF)
    if parsed.score is None:
        return Grade(problem=f"{written[0][:_SHOWN]!r} stands where the score is due")
    return Grade(value=parsed.score)


def _cut_short(reply: Reply, grade: Grade) -> Reply:
    """Return `reply` as complete unless its score is cut: only a score was wanted."""
    ended = reply.finish is Finish.LENGTH and grade.problem != BREAKS_OFF
    return replace(reply, finish=Finish.STOP) if ended else reply
