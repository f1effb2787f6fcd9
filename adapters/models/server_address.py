"""Addresses and keys of servers.

Texts are sent only to the address that the user gave: redirects are refused.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

from spanjury.adapters.models.model_errors import short_line
from spanjury.judges.core import MASK, ConfigError, UnusableModelError, without_secrets

PLACEHOLDER_KEY = "none-needed"
"""Sent to a server for which the user has no key, as it may not need one."""
_REDIRECT = range(300, 400)
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        "cerebras": ("CEREBRAS_API_KEY",),
        "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
        "cohere_chat": ("COHERE_API_KEY", "CO_API_KEY"),
        "dashscope": ("DASHSCOPE_API_KEY",),
        "deepinfra": ("DEEPINFRA_API_KEY",),
        "deepseek": ("DEEPSEEK_API_KEY",),
        "fireworks_ai": (
            "FIREWORKS_AI_API_KEY",
            "FIREWORKS_API_KEY",
            "FIREWORKSAI_API_KEY",
            "FIREWORKS_AI_TOKEN",
        ),
        "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "groq": ("GROQ_API_KEY",),
        "mistral": ("MISTRAL_API_KEY", "MISTRAL_AZURE_API_KEY"),
        "moonshot": ("MOONSHOT_API_KEY",),
        "openai": ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"),
        "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
        "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
        "together_ai": (
            "TOGETHERAI_API_KEY",
            "TOGETHER_API_KEY",
            "TOGETHER_AI_API_KEY",
            "TOGETHER_AI_TOKEN",
        ),
    }
)
"""Environment variables in which LiteLLM looks for the key of a provider that requires one."""
_BASES = ("API_BASE", "BASE_URL")
"""Suffixes of the variables that make LiteLLM use another address for a provider."""


def refuse_credentials(base_url: str) -> None:
    """Refuse an address that contains a user name or password.

    No request could send them together with a key.

    Raises `ConfigError` if `base_url` contains credentials; the message does not repeat them.
    """
    safe = without_secrets(base_url)
    if f"{MASK}@" in safe:
        raise ConfigError(
            f"base URL {safe!r}: leave user name and password out, and put the server's key"
            " into the environment"
        )


def key_from(variable: str) -> str | None:
    """Return the key in an environment variable, or None if it is unset or empty.

    Raises `ConfigError` if the key cannot be sent in a header; the message does not repeat it.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{variable} contains characters that no HTTP header can contain")
    return key or None


def missing_key(provider: str) -> str:
    """Return a message with the variable to set for a provider, by LiteLLM's name, or "".

    It is empty if the key is set, or may not be needed: the provider is unknown, or a variable sets
    another address. This does not import LiteLLM, which takes seconds.

    Examples
    --------
    >>> missing_key("ollama")
    ''
    """
    addresses = (f"{provider.upper()}_{base}" for base in _BASES)
    keys = KEYS.get(provider, ())
    if not keys or any(os.environ.get(name, "").strip() for name in (*keys, *addresses)):
        return ""
    return f"its key is missing: set {keys[0]}"


def refuse_redirect(
    status: int, headers: Mapping[str, str], *, asked: str, source: str, key: str = ""
) -> None:
    """Raise `UnusableModelError` for an answer that redirects the request from the URL `asked`.

    The message shows the status and the host, without path and query, which may contain a key, and
    without `key`.
    """
    if status not in _REDIRECT:
        return
    location = headers.get("Location", "")
    problem = (
        f"redirects are not followed, and it leads to {_host(location, asked=asked)}: give the"
        " server's final address as the base URL"
    )
    raise UnusableModelError(f"{source}: {short_line(problem, status=status, key=key)}")


def _host(location: str, *, asked: str) -> str:
    """Return scheme, host and port of a target; the rest is not shown."""
    try:
        target = urlsplit(urljoin(asked, location) if location else "")
        port = f":{target.port}" if target.port else ""
    except ValueError:
        target, port = urlsplit(""), ""
    if not target.hostname:
        return "an address that it does not name"
    host = f"[{target.hostname}]" if ":" in target.hostname else target.hostname
    return f"{target.scheme}://{host}{port}"
