"""Watchers end with the work, and an error is raised as it is."""

import anyio
import pytest

from spanjury.orchestration.engine.stopping import run_watched


async def test_watchers_end_when_the_work_does() -> None:
    ended: list[str] = []

    async def watch() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("watcher")

    async def work() -> None:
        await anyio.lowlevel.checkpoint()
        ended.append("work")

    with anyio.fail_after(5):
        await run_watched(work, watch, watch)
    assert ended == ["work", "watcher", "watcher"]


@pytest.mark.parametrize("who", ["work", "watcher"])
async def test_an_error_ends_all_and_is_no_group(who: str) -> None:
    async def fail() -> None:
        await anyio.lowlevel.checkpoint()
        raise LookupError("this")

    tasks = (fail, anyio.sleep_forever) if who == "work" else (anyio.sleep_forever, fail)
    with anyio.fail_after(5), pytest.raises(LookupError, match="this"):
        await run_watched(*tasks)
