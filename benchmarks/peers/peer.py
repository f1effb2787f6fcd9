"""Parts shared by the scripts beside it: the order, in a file that an environment variable names.

The scripts run in the peers' environments, which need no spanjury.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Order", "read_order"]


@dataclass(frozen=True)
class Order:
    """The server's address, the prompts, and the number of concurrent calls."""

    address: str
    prompts: Sequence[str]
    connections: int


def read_order() -> Order:
    """Read the order, and the prompts from its file of calls, each as one text."""
    order = json.loads(Path(os.environ["PEER_ORDER"]).read_text(encoding="utf-8"))
    with Path(order["calls"]).open(encoding="utf-8") as calls:
        conversations = [json.loads(call)["messages"] for call in calls]
    return Order(
        address=order["address"],
        prompts=[
            "\n\n".join(message["content"] for message in said_all) for said_all in conversations
        ],
        connections=order["connections"],
    )
