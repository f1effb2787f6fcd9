"""A server on 127.0.0.1 that runs in a thread while its block lasts."""

import socketserver
import threading
from types import TracebackType
from typing import Self


class InThread:
    """Serve in a thread of its own; leaving the block stops the server and joins the thread."""

    def __init__(self, server: socketserver.TCPServer) -> None:
        self._listening = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
        self._listening.shutdown()
        self._thread.join()
        self.hang_up()
        self._listening.server_close()

    @property
    def base_url(self) -> str:
        """The address to give to a model, as ``http://127.0.0.1:8123/v1``."""
        return f"http://127.0.0.1:{self._listening.server_address[1]}/v1"

    def release(self) -> None:
        """Let go of whoever is kept waiting, before the server stops."""

    def hang_up(self) -> None:
        """Break what is still open, after the server has stopped."""
