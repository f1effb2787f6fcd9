"""Evaluation steps that a model writes for itself (Auto-CoT), asked for once per aspect.

Source: Liu et al. (2023), G-Eval, section 2.1, "Auto chain-of-thoughts".
"""

from dataclasses import dataclass, replace

from anyio import Lock

from spanjury.judges.core import ChatModel, ChatRequest, Finish, Outcome, Reply, Usage
from spanjury.judges.llm.asking import Answer, ask
from spanjury.judges.llm.geval_prompt import reask_for_steps
from spanjury.judges.llm.reasoning import without_reasoning

__all__ = ["Steps", "StepsWriter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Steps as they go into a prompt, or the reason why there are none."""

    text: str
    problem: str = ""


class StepsWriter:
    """Has steps written, and keeps them: whoever asks the same later, or meanwhile, gets them.

    A request that fails is forgotten: the next one to ask tries again.
    """

    def __init__(self) -> None:
        self._written: dict[ChatRequest, Answer[Steps]] = {}
        self._locks: dict[ChatRequest, Lock] = {}

    async def write(self, model: ChatModel, request: ChatRequest) -> Answer[Steps]:
        """Return what the model answers to `request`, with the tokens spent now.

        The answer's outcome is another than `Outcome.SCORED` if the model declines, or its
        second reply holds no complete steps either.

        Raises
        ------
        ModelError
            If the model gives no reply.
        """
        lock = self._locks.setdefault(request, Lock())
        try:
            async with lock:
                return await self._asked_once(model, request)
        finally:
            if not lock.locked():  # nobody waits: a lock belongs to one event loop
                self._locks.pop(request, None)

    async def _asked_once(self, model: ChatModel, request: ChatRequest) -> Answer[Steps]:
        if request in self._written:
            return replace(self._written[request], usage=Usage())
        answer = await ask(model, request, read=_read, reask=reask_for_steps)
        if answer.outcome is Outcome.SCORED:
            self._written[request] = answer
        return answer


def _read(reply: Reply) -> Steps:
    if reply.finish is Finish.LENGTH:
        return Steps(text="", problem="the steps broke off")
    text = (without_reasoning(reply.text) or "").strip()
    return Steps(text=text, problem="" if text else "there are no steps in it")
