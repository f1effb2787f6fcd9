"""A hub of models on 127.0.0.1, as the client of the Hugging Face hub asks it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from loopback.answers import Answer
from loopback.server import LoopbackServer

__all__ = ["hub_of"]


def hub_of(
    repository: str,
    folder: Path,
    *,
    commit: str,
    others: Mapping[str, bytes],
    errors: Mapping[str, str] | None = None,
) -> LoopbackServer:
    """Return a server of the files in `folder`, and of `others` by their names.

    `errors` are the hub's words for what is missing, by repository and revision.
    """
    files = {**{file.name: file.read_bytes() for file in folder.iterdir()}, **others}
    listed = [{"rfilename": name} for name in files]
    pages: dict[str, object] = {
        f"/api/models/{repository}": {"id": repository, "sha": commit, "siblings": listed}
    }
    for name, content in files.items():
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": commit}
        body = content.decode("utf-8", "surrogateescape")
        pages[f"/{repository}/resolve/main/{name}"] = Answer(body=body, headers=headers)
    for path, code in (errors or {}).items():
        pages[f"/api/models/{path}"] = Answer(status=404, body="", headers={"X-Error-Code": code})
    return LoopbackServer(Answer(body="{}"), pages=pages)
