"""Servers that redirect the text elsewhere: all statuses, providers and kinds of target."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from benchmarks.trials.trial import Harm, Trial

from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.judges.core import ChatRequest, Message, ModelError, ModelOptions

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from loopback.answers import Answer, chat
from loopback.server import LoopbackServer

__all__ = ["trials"]

_STATUSES = (300, 301, 302, 303, 305, 307, 308)
_LEAN = "openai-compatible/loop"
_KEY = "sk-trial-0123456789abcdef"
# For these, LiteLLM uses OpenAI's client, its own, and those of a dozen other libraries.
_PROVIDERS = """anthropic azure cohere custom_openai databricks deepseek gemini groq hosted_vllm
    huggingface litellm_proxy llamafile lm_studio mistral ollama ollama_chat openai openrouter
    text-completion-openai together_ai""".split()  # noqa: SIM905  easier to read so
_REQUEST = ChatRequest(messages=(Message(role="user", content="A confidential text."),))


async def _ask(name: str, base_url: str) -> str:
    """Return the reply, or the error in its place."""
    open_model = open_fast if name == _LEAN else open_litellm
    async with open_model(name, options=ModelOptions(base_url=base_url)) as model:
        try:
            return (await model.complete(_REQUEST)).text
        except ModelError as error:
            return f"error: {error}"


def _leaks(name: str, status: int) -> bool:
    """Return whether a second server gets a request, or a redirect is read as a reply."""
    with LoopbackServer(chat("Overall score: Excellent")) as elsewhere:
        target = elsewhere.base_url + "/chat/completions?key=" + _KEY
        with LoopbackServer(Answer(status=status, body="", headers={"Location": target})) as server:
            answer = anyio.run(_ask, name, server.base_url)
        asked = len(server.requests)
        return (
            bool(elsewhere.requests) or asked != 1 or "not followed" not in answer or _KEY in answer
        )


def _goes_on(name: str, status: int) -> bool:
    """Return whether the same server gets a second request at another path."""
    headers = {"Location": "/v1/elsewhere"}
    with LoopbackServer(Answer(status=status, body="", headers=headers), chat("fine")) as server:
        answer = anyio.run(_ask, name, server.base_url)
        return len(server.requests) != 1 or "not followed" not in answer


def _run(name: str) -> bool:
    """Return whether the command itself, with its retries, leaks to a second server."""
    with TemporaryDirectory() as folder, LoopbackServer(chat("Score: 5")) as elsewhere:
        data = Path(folder, "data.jsonl")
        data.write_text('{"output": "A confidential text.", "inputs": "Its source."}\n')
        target = f"{elsewhere.base_url}/chat/completions"
        with LoopbackServer(Answer(status=307, body="", headers={"Location": target})) as server:
            flags = ("--model", name, "--model-base-url", server.base_url)
            command = (sys.executable, "-m", "spanjury", "evaluate", str(data), *flags)
            output = ("--task", "summarization", "--output", str(Path(folder, "results.jsonl")))
            whole = [*command, *output]
            subprocess.run(whole, capture_output=True, check=False)  # noqa: S603  the program itself
            return bool(elsewhere.requests) or not server.requests


def trials() -> list[Trial]:
    """Test every redirect with every provider."""
    for name in _PROVIDERS:
        os.environ.setdefault(f"{name.replace('-', '_').upper()}_API_KEY", _KEY)
    os.environ |= {"AZURE_API_VERSION": "2024-02-01", "TOGETHERAI_API_KEY": _KEY}
    roads = [_LEAN, *(f"{name}/loop" for name in _PROVIDERS)]
    tries = len(roads) * len(_STATUSES)
    return [
        Trial(
            harm=Harm.LEAKED,
            name="redirect to another server",
            tries=tries,
            harmed=sum(_leaks(name, status) for name in roads for status in _STATUSES),
            note=f"{len(roads)} providers",
        ),
        Trial(
            harm=Harm.LEAKED,
            name="redirect within a server",
            tries=tries,
            harmed=sum(_goes_on(name, status) for name in roads for status in _STATUSES),
        ),
        Trial(
            harm=Harm.LEAKED,
            name="redirect of a whole run",
            tries=3,
            harmed=sum(map(_run, (_LEAN, "openai/loop", "hosted_vllm/loop"))),
        ),
    ]
