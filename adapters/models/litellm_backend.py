"""The provider behind a LiteLLM name: its key, and the features of its servers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spanjury.adapters.models.litellm_library import litellm
from spanjury.adapters.models.openai_request import (
    CONTINUE_LAST_MESSAGE,
    documents_of,
    llama_cpp_grammar,
    response_format,
    template_fields,
    vllm_grammar,
)
from spanjury.adapters.models.server_address import PLACEHOLDER_KEY, key_from, refuse_credentials
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Form,
    PermanentModelError,
    Reasoning,
    ReplySchema,
    TokenPrice,
    effort_of,
    scrub,
    without_secrets,
)

_VLLM = "hosted_vllm"
# Servers at a user's address under these names are, or may be, llama.cpp.
_LLAMA_CPP_LIKE = frozenset({"openai", "custom_openai", "openai_like", "llamafile"})
_OLLAMA = "ollama_chat"
_LLAMA_CPP_INSIDE = frozenset({_OLLAMA, "lm_studio"})  # they take its schemas, not its grammars
_THINKING = frozenset({"anthropic", "gemini"})  # they take a budget of thinking tokens
_KEEPING_MARKED = frozenset({"anthropic", "bedrock"})
_UNGUARDED = "aiohttp_openai"  # its own client follows redirects


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One model of one provider, by LiteLLM's names, such as ``"hosted_vllm"``.

    Without `base_url` the provider's own address is used; without `api_key` LiteLLM looks for one.
    LiteLLM's model list supplies whether the model `prefills`, which means that it can continue
    from a prefix; its price, or None; and whether its server caches only marked prefixes of prompts
    (`keeps_marked`).
    """

    name: str
    provider: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    prefills: bool = False
    takes_tools: bool = True
    takes_schema: bool = True
    keeps_marked: bool = False
    price: TokenPrice | None = None

    def __str__(self) -> str:
        if self.base_url is None:
            return self.name
        return f"{self.name} at {without_secrets(self.base_url)}"

    @property
    def forms(self) -> frozenset[Form]:
        """The forms of constrained replies that it supports."""
        forms: set[Form] = {"grammar"} if self._takes_grammar else set()
        if self.takes_schema:
            forms.add("schema")
            if self._takes_grammar or self.provider in _LLAMA_CPP_INSIDE:
                forms.add("bounded-schema")
        return frozenset(forms)

    def schema_fields(self, schema: ReplySchema) -> dict[str, object]:
        """Return LiteLLM's argument that constrains a reply to `schema`.

        Raises `PermanentModelError` if the model takes none, as do the other methods for fields.
        """
        if not self.takes_schema:
            raise PermanentModelError(f"{self}: {self.provider} takes no JSON schema")
        return response_format(schema)

    def grammar_fields(self, grammar: str) -> dict[str, object]:
        """Return the fields that constrain a reply to a GBNF `grammar`."""
        if self.provider == _VLLM:
            return vllm_grammar(grammar)
        if self._llama_cpp_like:
            return llama_cpp_grammar(grammar)
        raise PermanentModelError(f"{self}: {self.provider} takes no grammar")

    def reasoning_fields(self, reasoning: Reasoning) -> tuple[dict[str, object], dict[str, object]]:
        """Return LiteLLM's arguments for reasoning, and the fields for the model's server."""
        if self._takes_grammar:
            effort = {} if reasoning == "none" else {"reasoning_effort": effort_of(reasoning)}
            return {}, {**template_fields(reasoning=reasoning), **effort}
        if isinstance(reasoning, int) and self.provider in _THINKING:
            return {"thinking": {"type": "enabled", "budget_tokens": reasoning}}, {}
        return {"reasoning_effort": effort_of(reasoning)}, {}

    def document_fields(self, request: ChatRequest) -> dict[str, object]:
        """Return the field for the documents of `request`, including its reasoning setting."""
        documents = documents_of(request)
        if not documents:
            return {}
        if not self._takes_grammar:
            raise PermanentModelError(f"{self}: {self.provider} takes messages only, no documents")
        return template_fields(reasoning=request.decoding.reasoning, documents=documents)

    def prefix_fields(self) -> tuple[dict[str, object], dict[str, object]]:
        """Return the fields of a message to be continued, and those of its request."""
        if self._takes_grammar:
            return {}, dict(CONTINUE_LAST_MESSAGE)
        if self.prefills:
            return {"prefix": True}, {}
        if self.provider == _OLLAMA:  # it continues a last assistant message without being asked
            return {}, {}
        raise PermanentModelError(f"{self}: {self.provider} cannot continue from a given prefix")

    @property
    def _takes_grammar(self) -> bool:
        return self.provider == _VLLM or self._llama_cpp_like

    @property
    def _llama_cpp_like(self) -> bool:
        return self.provider in _LLAMA_CPP_LIKE and self.base_url is not None


def find_backend(name: str, *, base_url: str | None, api_key: str | None = None) -> Backend:
    """Resolve a name of LiteLLM's, such as ``"hosted_vllm/Qwen/Qwen3-8B"``.

    Without `base_url`, the provider's own address is used. Without `api_key`, the key is
    ``<PROVIDER>_API_KEY`` from the environment; a server at a user's address may need none, and
    gets a placeholder.

    Raises `ConfigError` if LiteLLM knows no provider for the name; if the address contains
    credentials, which no request could send together with a key; if the provider's own client
    follows redirects; or if the provider's key cannot be sent in a header.
    """
    if base_url is not None:
        refuse_credentials(base_url)
    name = _in_turns(name)
    try:
        model, provider, _, _ = litellm.get_llm_provider(name, api_base=base_url)
        offers = litellm.get_supported_openai_params(model, provider) or ()
    except Exception as error:  # noqa: BLE001 - LiteLLM may raise anything
        raise ConfigError(
            f"unknown model {scrub(name)!r}: write it as LiteLLM does, provider first, as"
            " ollama/NAME, hosted_vllm/NAME, or openai/NAME with a base URL"
            f" ({type(error).__name__})"
        ) from None
    if provider == _UNGUARDED:
        raise ConfigError(
            f"model {scrub(name)!r}: {_UNGUARDED} follows redirects: name it"
            f" openai-compatible/{scrub(model)}"
        )
    known_key = key_from(f"{provider.upper()}_API_KEY")
    if base_url is not None and api_key is None:
        api_key = known_key or PLACEHOLDER_KEY
    listed = _listed(name, model=model, provider=provider)
    return Backend(
        name=name,
        provider=provider,
        base_url=base_url,
        api_key=api_key,
        prefills=bool(listed.get("supports_assistant_prefill")),
        takes_tools="tools" in offers,
        # `litellm.supports_response_schema` wrongly denies it for vLLM, Ollama and llama.cpp.
        takes_schema="response_format" in offers,
        keeps_marked=provider in _KEEPING_MARKED
        and litellm.utils.supports_prompt_caching(model=model, custom_llm_provider=provider),
        price=_price(listed),
    )


def listed_price(name: str, *, base_url: str | None) -> TokenPrice | None:
    """Return the price of a model in LiteLLM's list; None if it is not listed."""
    name = _in_turns(name)
    try:
        model, provider, _, _ = litellm.get_llm_provider(name, api_base=base_url)
    except Exception:  # noqa: BLE001 - LiteLLM may raise anything
        return None
    return _price(_listed(name, model=model, provider=provider))


def _in_turns(name: str) -> str:
    """Return the name under which Ollama is sent a conversation as such.

    For ``ollama/`` LiteLLM would flatten it into one prompt with a template of its own; for
    ``ollama_chat/`` the server applies the model's own template.
    """
    return name.replace("ollama/", "ollama_chat/", 1) if name.startswith("ollama/") else name


def _listed(name: str, *, model: str, provider: str) -> Mapping[str, Any]:
    """Return the entry of `name` in LiteLLM's list, which omits the prefix of some providers."""
    listed: Mapping[str, Any] = litellm.model_cost.get(name) or litellm.model_cost.get(model) or {}
    return listed if listed.get("litellm_provider") == provider else {}


def _price(listed: Mapping[str, Any]) -> TokenPrice | None:
    """Return the basic price; the list has others for very long prompts and for batches."""
    prompt, completion = listed.get("input_cost_per_token"), listed.get("output_cost_per_token")
    if prompt is None or completion is None:
        return None
    return TokenPrice(
        prompt=prompt, completion=completion, cached=listed.get("cache_read_input_token_cost")
    )
