"""Bare aiohttp as a command: the calls of a file, with no other work.

Run as ``python -m benchmarks.batch_client ADDRESS FILE CONNECTIONS``. Each line of FILE is the
body of a call; each reply is parsed to its text.
"""

import asyncio  # noqa: TID251 - aiohttp runs on nothing else
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp


async def main(address: str, file: Path, connections: int) -> None:
    """Make the calls, one at a time per connection."""
    url = f"{address}/v1/chat/completions"
    connector = aiohttp.TCPConnector(limit=connections)
    headers = {"Content-Type": "application/json"}
    with file.open("rb") as lines:
        async with (
            aiohttp.ClientSession(connector=connector, headers=headers) as session,
            asyncio.TaskGroup() as asking,
        ):
            for _ in range(connections):
                asking.create_task(_ask_in_turn(session, url, lines=lines))


async def _ask_in_turn(session: aiohttp.ClientSession, url: str, *, lines: Iterator[bytes]) -> None:
    for line in lines:
        async with session.post(url, data=line.rstrip(b"\n")) as response:
            response.raise_for_status()
            reply = await response.json()
            assert reply["choices"][0]["message"]["content"]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
