"""Evaluation steps that a model writes for itself (Auto-CoT), asked for once per aspect.

Source: Liu et al. (2023), G-Eval, section 2.1, "Auto chain-of-thoughts".
"""

from dataclasses import dataclass

from anyio import Lock

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Finish,
    Outcome,
    ParseError,
    Reply,
    Usage,
)
from spanjury.judges.llm.asking import ask
from spanjury.judges.llm.geval_prompt import reask_for_steps
from spanjury.judges.llm.reasoning import without_reasoning

__all__ = ["StepsWriter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """Steps as they go into a prompt, or the reason why there are none."""

    text: str
    problem: str = ""


class StepsWriter:
    """Has steps written, and keeps them: whoever asks the same later, or meanwhile, gets them.

    A request that fails is forgotten: the next one to ask tries again.
    """

    def __init__(self) -> None:
        self._written: dict[ChatRequest, str] = {}
        self._locks: dict[ChatRequest, Lock] = {}

    async def write(self, model: ChatModel, request: ChatRequest) -> tuple[str, Usage]:
        """Return the steps that `request` asks for, and the tokens spent now.

        Raises
        ------
        ModelError
            If the model gives no reply.
        ParseError
            If it declines, or its second reply holds no complete steps either.
        """
        if request in self._written:
            return self._written[request], Usage()
        lock = self._locks.setdefault(request, Lock())
        try:
            async with lock:
                return await self._asked_once(model, request)
        finally:
            if not lock.locked():  # nobody waits: a lock belongs to one event loop
                self._locks.pop(request, None)

    async def _asked_once(self, model: ChatModel, request: ChatRequest) -> tuple[str, Usage]:
        if request in self._written:  # by the one who was waited for
            return self._written[request], Usage()
        answer = await ask(model, request, read=_read, reask=reask_for_steps)
        if answer.outcome is not Outcome.SCORED:
            reason = answer.reading.problem or answer.reason
            raise ParseError(f"no evaluation steps: {reason}", reply=answer.reply.text)
        self._written[request] = answer.reading.text
        return answer.reading.text, answer.usage


def _read(reply: Reply) -> _Steps:
    if reply.finish is Finish.LENGTH:
        return _Steps(text="", problem="the steps broke off")
    text = (without_reasoning(reply.text) or "").strip()
    return _Steps(text=text, problem="" if text else "there are no steps in it")
