"""Ctrl-C and its like: the first lets what is under way come to its end, the second does not."""

import signal
import sys

from anyio import open_signal_receiver, sleep_forever

from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.engine.stopping import GRACE, StopToken

__all__ = ["Signals"]

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "told to end"}


class Signals:
    """Listen for signals, and pull a stop token when one comes.

    `received` is the first that came, 0 for none.
    """

    def __init__(self) -> None:
        self.received = 0

    async def watch(self, stop_token: StopToken) -> None:
        """Listen until cancelled; after two signals a third has its usual effect."""
        if sys.platform != "win32":  # there, Ctrl-C stays a KeyboardInterrupt
            with open_signal_receiver(*_WORDS) as signals:
                async for number in signals:
                    if self.received:
                        stop_token.request(_WORDS[number], grace=0.0)
                        break
                    self.received = number
                    stop_token.request(_WORDS[number], grace=GRACE)
                    say(
                        f"{_WORDS[number]}: what is under way may take {GRACE:g} s more;"
                        " Ctrl-C again to drop it"
                    )
        await sleep_forever()
