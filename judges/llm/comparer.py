"""The comparer: a language model decides which of two texts is better on one aspect.

It sees both texts at once, like the judges of Zheng et al. (2023), "Judging LLM-as-a-Judge with
MT-Bench and Chatbot Arena", section 3.1. Every readable reply gives a preference. After a reply
that is unreadable or broke off, the request is repeated once; then the report has the outcome and
no preference. It raises `ModelError` if the model gives no reply at all.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    Decoding,
    ErrorSpan,
    Message,
    Outcome,
    PairReport,
    Preference,
    Reasoning,
    TextPair,
    TokenLogprob,
    fingerprint,
    signature,
    thought_tokens,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.llm.answer_tokens import LEAST_SHARE, RIVALS, field_token, shares
from spanjury.judges.llm.prompt import everything
from spanjury.judges.llm.typed_reply import ask_for
from spanjury.judges.llm.wording import fill_template, read_template
from spanjury.judges.tasks import describe
from spanjury.judges.text import Locator, fence, named_plainly

_TEMPLATES = ("system.txt", "compare.txt", "typed.txt", "typed-reask.txt")
_FIELD = "better"
"""Field of the reply that contains the decision."""
_MOST = 8
_LONGEST_EXPLANATION = 800
# Limits end the loops of small models, on servers that support them.
_Words = Annotated[str, Field(max_length=400)]


# The docstrings of this class and the next are part of the JSON schema that the model sees.
@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    """Words of one text that are worse than what the other has, copied letter for letter."""

    text: Literal["A", "B"]
    quote: _Words
    why: _Words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """A comparison of text A with text B; the decision comes last."""

    differences: Annotated[list[_Difference], Field(max_length=_MOST)]
    explanation: Annotated[str, Field(max_length=_LONGEST_EXPLANATION)]
    better: Literal["A", "B", "tie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer:
    """Ask a model which of two texts is better, and which words make the difference.

    Parameters
    ----------
    temperature, seed, max_tokens
        Decoding parameters; `max_tokens` is doubled once for a reply that broke off.
    reasoning
        Effort of reasoning before the reply, as for the annotator.
    alternatives
        Number of most likely tokens whose log-probabilities are requested at the decision: they
        give the probability that a text is preferred. 0 for none.
    """

    model: ChatModel
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 1024
    reasoning: Reasoning | None = None
    alternatives: int = RIVALS

    def __post_init__(self) -> None:
        self._decoding()  # raises for a bad number now

    @property
    def signature(self) -> str:
        """Model, prompt, decoding and code; other options if they differ from the default."""
        defaults = {"reasoning": None, "alternatives": RIVALS}
        options = {name: getattr(self, name) for name in defaults}
        return signature(
            "comparer",
            model=self.model.signature,
            prompt=fingerprint(*map(read_template, _TEMPLATES)),
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            code=code_digest(__name__),
            **{name: value for name, value in options.items() if value != defaults[name]},
        )

    async def compare(self, pair: TextPair, aspect: Aspect) -> PairReport:
        """Return the model's preference; raise `ModelError` if it gives no reply."""
        reply = await ask_for(
            _Decision,
            model=self.model,
            messages=_messages(pair, aspect),
            decoding=self._decoding(),
            logprobs_near=(_FIELD,) if self.alternatives else (),
        )
        decision = reply.value
        if decision is None:
            return PairReport(
                outcome=reply.outcome, reason=reply.reason, reply=reply.text, usage=reply.usage
            )
        return PairReport(
            outcome=Outcome.SCORED,
            preference=Preference(decision.better),
            probability=_probability(reply.logprobs),
            explanation=decision.explanation.strip(),
            spans_a=_spans(decision, "A", output=pair.a.output),
            spans_b=_spans(decision, "B", output=pair.b.output),
            reply=reply.text,
            usage=reply.usage,
        )

    def _decoding(self) -> Decoding:
        return Decoding(
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens + thought_tokens(self.reasoning),
            logprobs=self.alternatives,
            reasoning=self.reasoning,
        )


def _messages(pair: TextPair, aspect: Aspect) -> tuple[Message, ...]:
    """Return the conversation that shows A first, then B."""
    header = aspect.task.output_header
    first, second = f"{header} A", f"{header} B"
    inputs = named_plainly(aspect.view(pair.a.inputs))
    # An input with the name of a text of the pair must not replace that text.
    apart = {f"Input: {name}" if name in {first, second} else name: inputs[name] for name in inputs}
    texts = {**named_plainly(apart), first: pair.a.output, second: pair.b.output}
    fenced = fence(texts)
    slots = {
        "task_description": aspect.task.description,
        "material": fenced.text,
        "mark": fenced.mark,
        "description": describe(aspect),
        "everything": everything(tuple(texts)),
        "first": first,
        "second": second,
        "aspect": aspect.spoken,
    }
    return (
        Message(role="system", content=read_template("system.txt")),
        Message(role="user", content=fill_template("compare.txt", slots)),
    )


def _probability(tokens: tuple[TokenLogprob, ...]) -> float | None:
    """Return the probability of A plus half that of a tie, from the token of the decision.

    None without log-probabilities, or if the three words have less than half of the probability.
    """
    token = field_token(tokens, _FIELD, mark="")
    if token is None:
        return None
    words = shares(token, ("a", "b", "tie"))
    total = sum(words.values())
    return min(1.0, (words["a"] + words["tie"] / 2) / total) if total >= LEAST_SHARE else None


def _spans(decision: _Decision, text: str, *, output: str) -> tuple[ErrorSpan, ...]:
    locator = Locator(output)
    return tuple(
        locator.span(quote=each.quote, explanation=each.why.strip(), severity=None)
        for each in decision.differences
        if each.text == text and each.quote.strip()
    )
