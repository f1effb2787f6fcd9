"""A server's tokenizer names the special tokens of its model, where the server lets it be asked."""

import pytest
from loopback.answers import STALL, Answer, chat, failure
from loopback.server import LoopbackServer, unreachable_url

from spanjury.adapters.models import server_tokens
from spanjury.adapters.models.embedded import open_embedded
from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.adapters.models.server_tokens import ask_server
from spanjury.judges.core import (
    ModelOptions,
    ModelTimeoutError,
    TemplateTokens,
    TokenizedModel,
    TransientModelError,
)

pytestmark = pytest.mark.asyncio_only

VOCABULARY = "<|im_end|><file_sep>!the [:] <b>[|user|]"
LLAMA_CPP = {
    "/v1/models": {"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_vocab": 5}}]},
    "/detokenize": {"content": VOCABULARY},
    "/tokenize": {
        "tokens": [
            {"id": 0, "piece": "<|im_end|>"},
            {"id": 1, "piece": "<file_sep>"},
            {"id": 2, "piece": "[|user|]"},
            {"id": 3, "piece": "<"},
            {"id": 4, "piece": "b"},
            {"id": 5, "piece": [255]},
        ]
    },
}
VLLM = {"/v1/models": {"data": [{"id": "m", "owned_by": "vllm"}]}}
ADDED = {"1": {"content": "<seed:bos>", "special": True}, "2": "<file_sep>"}
TURNS = {"token_strs": ["[|system|]", "Ġa", "[|endofturn|]", "Ċ", "a", "[|user|]"]}


async def asked(server: LoopbackServer) -> TemplateTokens | None:
    return await ask_server(server.base_url, model="m", key="k")


async def test_llama_cpp_is_asked_for_all_of_its_vocabulary() -> None:
    with LoopbackServer(chat(""), pages=LLAMA_CPP) as server:
        tokens = await asked(server)
        assert tokens is not None
        assert tokens.tokens == ("<file_sep>", "<|im_end|>", "[|user|]")
        assert "llama.cpp" in tokens.source
        _, vocabulary, cut = server.asked_pages
        assert vocabulary.body == {"tokens": [0, 1, 2, 3, 4]}
        assert cut.body["content"] == "<b>\n<file_sep>\n<|im_end|>\n[:]\n[|user|]"
        assert cut.body["parse_special"] is True
        assert {request.headers["authorization"] for request in server.asked_pages} == {"Bearer k"}
        assert not server.requests


async def test_vllm_names_its_tokens_where_it_was_started_to_do_so() -> None:
    pages = {**VLLM, "/tokenizer_info": {"added_tokens_decoder": ADDED, "eos_token": "<seed:eos>"}}
    with LoopbackServer(chat(""), pages=pages) as server:
        tokens = await asked(server)
    assert tokens is not None
    assert tokens.tokens == ("<file_sep>", "<seed:bos>", "<seed:eos>")
    assert "/tokenizer_info" in tokens.source


async def test_vllm_else_shows_the_tokens_of_a_conversation() -> None:
    with LoopbackServer(chat(""), pages={**VLLM, "/tokenize": TURNS}) as server:
        tokens = await asked(server)
        assert tokens is not None
        assert tokens.tokens == ("[|endofturn|]", "[|system|]", "[|user|]")
        assert server.asked_pages[-1].body["model"] == "m"
        assert server.asked_pages[-1].body["return_token_strs"] is True


@pytest.mark.parametrize(
    "pages",
    [
        {},
        {"/v1/models": {"data": [{"id": "m", "owned_by": "organization-owner"}]}},
        {"/v1/models": {"data": ["m", None]}},
        {"/v1/models": [[[]]]},
        {"/v1/models": Answer(body="[" * 100_000)},
        {"/v1/models": Answer(status=302, body="", headers={"Location": "http://127.0.0.1:9/"})},
        {**LLAMA_CPP, "/tokenize": {"tokens": [7]}},
        {**LLAMA_CPP, "/detokenize": {"content": "plain words"}, "/tokenize": {"tokens": []}},
        {**LLAMA_CPP, "/v1/models": {"data": [{"owned_by": "llamacpp", "meta": None}]}},
        {**VLLM, "/tokenize": failure(400)},
    ],
)
async def test_any_other_server_names_none(pages: dict[str, object]) -> None:
    with LoopbackServer(failure(404), pages=pages) as server:
        assert await asked(server) is None


async def test_an_answer_without_an_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_tokens, "_MOST_BYTES", 20)
    with LoopbackServer(chat(""), pages=LLAMA_CPP) as server:
        assert await asked(server) is None


async def test_an_unanswered_server_may_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_tokens, "_SECONDS", 0.05)
    silent = LoopbackServer(chat(""), pages={"/v1/models": STALL})
    with silent as server, pytest.raises(ModelTimeoutError, match="TimeoutError"):
        await asked(server)
    with pytest.raises(TransientModelError, match="m: its tokenizer cannot be asked"):
        await ask_server(unreachable_url(), model="m", key="k")


@pytest.mark.parametrize("name", ["openai-compatible/m", "openai/m"])
async def test_a_server_has_no_more_time_than_the_timeout_allows(name: str) -> None:
    open_model = open_fast if name.startswith("openai-compatible") else open_litellm
    with LoopbackServer(chat(""), pages={"/v1/models": STALL}) as server:
        options = ModelOptions(base_url=server.base_url, timeout=0.05)
        async with open_model(name, options=options) as model:
            assert isinstance(model, TokenizedModel)
            with pytest.raises(ModelTimeoutError):
                await model.template_tokens()


@pytest.mark.parametrize("name", ["openai-compatible/m", "openai/m", "hosted_vllm/m"])
async def test_every_client_asks_the_server_at_its_address(name: str) -> None:
    open_model = open_fast if name.startswith("openai-compatible") else open_litellm
    with LoopbackServer(chat(""), pages=LLAMA_CPP) as server:
        async with open_model(name, options=ModelOptions(base_url=server.base_url)) as model:
            assert isinstance(model, TokenizedModel)
            tokens = await model.template_tokens()
    assert tokens is not None
    assert "<file_sep>" in tokens.tokens


async def test_a_provider_without_an_address_is_not_asked() -> None:
    async with open_litellm("openai/gpt-4o", options=ModelOptions()) as model:
        assert isinstance(model, TokenizedModel)
        assert await model.template_tokens() is None


@pytest.mark.e2e
async def test_llama_cpp_itself_names_the_tokens_of_the_embedded_model() -> None:
    async with open_embedded("embedded", options=ModelOptions()) as model:
        assert isinstance(model, TokenizedModel)
        tokens = await model.template_tokens()
    assert tokens is not None
    assert {"<|im_end|>", "<file_sep>", "<jupyter_start>"} <= {*tokens.tokens}
