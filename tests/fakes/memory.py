"""A memory that forgets all when the process ends."""

from dataclasses import dataclass, field

import anyio.lowlevel


@dataclass(slots=True)
class DictMemory:
    """A `Memory` in a dict; a put lets other tasks run, as one that writes to disk does."""

    values: dict[str, bytes] = field(default_factory=dict)

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    async def put(self, key: str, value: bytes) -> None:
        self.values[key] = value  # in the order of the puts, and there for gets at once
        await anyio.lowlevel.checkpoint()

    async def put_soon(self, key: str, value: bytes) -> None:
        self.values[key] = value
