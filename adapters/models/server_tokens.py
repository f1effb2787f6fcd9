"""Special tokens of a model, as reported by its server. Needs asyncio.

Every OpenAI-compatible server names its software at ``/models``. For llama.cpp, all token ids are
detokenized and the resulting marks tokenized again. vLLM lists its tokens if it was started with
``--enable-tokenizer-info-endpoint``; otherwise it shows those of a sample conversation. No judged
text is sent, and no redirect is followed. Other servers have no such endpoint.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from spanjury.adapters.models.model_errors import SUCCESS
from spanjury.adapters.models.reply_bytes import IDENTITY
from spanjury.adapters.models.token_files import named_tokens
from spanjury.judges.core import ModelTimeoutError, TemplateTokens, TransientModelError

_SECONDS = 10.0
_MOST_BYTES = 2**25  # a vocabulary of 256,000 tokens is 2 MB
_MOST_TOKENS = 2**20
# Looks like a special token; the tokenizer decides which matches are.
_MARK = re.compile(r"[<＜\[]{1,2}[^\s<>＜＞\[\]]{1,64}[>＞\]]{1,2}")
_TURNS = [
    {"role": role, "content": "a"} for role in ("system", "user", "assistant", "user")
]  # if a template refuses the system message, the others are sent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """A server and its session; `root` is the address of endpoints outside OpenAI's interface."""

    session: aiohttp.ClientSession
    root: URL
    model: str

    async def ask(self, url: URL, **fields: object) -> Any:  # noqa: ANN401  any JSON value
        """Return the JSON at `url`, or the JSON answer to `fields`; None if the request fails."""
        method = "POST" if fields else "GET"
        async with self.session.request(
            method, url, json=fields or None, allow_redirects=False
        ) as response:
            if response.status not in SUCCESS:
                return None
            received = bytearray()
            async for chunk in response.content.iter_any():
                received += chunk
                if len(received) > _MOST_BYTES:
                    response.close()
                    return None
            return json.loads(received)


async def ask_server(
    base_url: str, *, model: str, key: str, seconds: float = _SECONDS
) -> TemplateTokens | None:
    """Return the special tokens of the model called `model`; None if the server cannot tell.

    Raises `TransientModelError` if it cannot be reached, or does not answer within `seconds`, at
    most 10.
    """
    base = URL(base_url)
    root = base.parent if base.name == "v1" else base
    try:
        async with aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=min(seconds, _SECONDS)),
            auto_decompress=False,
            headers={"Authorization": f"Bearer {key}", **IDENTITY},
        ) as session:
            server = _Server(session=session, root=root, model=model)
            served = _served(await server.ask(base / "models"), model)
            match served.get("owned_by"):
                case "llamacpp":
                    return await _from_llama_cpp(server, served)
                case "vllm":
                    return await _from_vllm(server)
    except (aiohttp.ClientError, OSError) as error:  # a `TimeoutError` is an `OSError`
        kind = ModelTimeoutError if isinstance(error, TimeoutError) else TransientModelError
        raise kind(
            f"{model}: its tokenizer cannot be asked: {type(error).__name__}"
        ) from None  # the message may hold the key
    except (KeyError, RecursionError, TypeError, ValueError):  # an answer of an unknown form
        return None
    return None


async def _from_llama_cpp(server: _Server, served: Mapping[str, Any]) -> TemplateTokens | None:
    count = min(int(served["meta"]["n_vocab"]), _MOST_TOKENS)
    shown = await server.ask(server.root / "detokenize", tokens=list(range(count)))
    marks = "\n".join(sorted(set(_MARK.findall(shown["content"]))))
    cut = await server.ask(
        server.root / "tokenize",
        content=marks,
        parse_special=True,
        add_special=False,
        with_pieces=True,
    )
    pieces = {piece["piece"] for piece in cut["tokens"] if isinstance(piece["piece"], str)}
    return _template_tokens(filter(_MARK.fullmatch, pieces), "llama.cpp's /tokenize")


async def _from_vllm(server: _Server) -> TemplateTokens | None:
    info = await server.ask(server.root / "tokenizer_info")
    if info is not None:
        return _template_tokens(named_tokens(info), "vLLM's /tokenizer_info")
    for turns in (_TURNS, _TURNS[1:]):
        cut = await server.ask(
            server.root / "tokenize", model=server.model, messages=turns, return_token_strs=True
        )
        if cut is not None:
            pieces = (str(piece).strip("▁ĠĊ \n") for piece in cut["token_strs"])
            return _template_tokens(filter(_MARK.fullmatch, pieces), "vLLM's /tokenize")
    return None


def _template_tokens(tokens: Iterable[str], source: str) -> TemplateTokens | None:
    named = tuple(sorted(set(tokens)))
    return TemplateTokens(tokens=named, source=source) if named else None


def _served(models: Any, name: str) -> Mapping[str, Any]:  # noqa: ANN401  as above
    """Return the entry of the model `name` in a list of models, or else the first one."""
    if not isinstance(models, dict) or not isinstance(models.get("data"), list):
        return {}
    listed = [model for model in models["data"] if isinstance(model, dict)]
    return next((model for model in listed if model.get("id") == name), listed[0] if listed else {})
