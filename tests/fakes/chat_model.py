"""A model that answers from a script and remembers what it was asked."""

from collections import deque

import anyio.lowlevel

from spanjury.judges.core import ChatRequest, Reply, signature


class ScriptedModel:
    """A `ChatModel` that gives the `replies` in order, one a call.

    Parameters
    ----------
    replies
        A reply is returned, a text is returned as a reply, an exception is raised.
    repeat_last
        Whether the last reply is given again and again; otherwise a call too many is an
        `AssertionError`.

    Examples
    --------
    >>> model = ScriptedModel("Score: Good", repeat_last=True)
    >>> import anyio
    >>> anyio.run(model.complete, ChatRequest(messages=())).text
    'Score: Good'
    >>> len(model.requests)
    1
    """

    def __init__(self, *replies: Reply | str | Exception, repeat_last: bool = False) -> None:
        self._replies = deque(replies)
        self._repeat_last = repeat_last
        self._requests: list[ChatRequest] = []

    @property
    def signature(self) -> str:
        return signature("scripted")

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """The requests so far, oldest first."""
        return tuple(self._requests)

    async def complete(self, request: ChatRequest) -> Reply:
        """Give the next reply of the script, after letting other tasks run."""
        self._requests.append(request)
        await anyio.lowlevel.checkpoint()
        assert self._replies, f"asked {len(self._requests)} times, more often than the script has"
        last = len(self._replies) == 1
        reply = self._replies[0] if last and self._repeat_last else self._replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply) if isinstance(reply, str) else reply
