"""Addresses and keys of servers.

A text goes to the address that the user gave, and no other: redirects are refused.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

from spanjury.adapters.models.model_errors import short_line
from spanjury.judges.core import MASK, ConfigError, UnusableModelError, without_secrets

PLACEHOLDER_KEY = "none-needed"
"""Shown to a server for which the user has no key: it may want none."""
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
"""Variables in which LiteLLM finds the key of a provider that demands one."""
_BASES = ("API_BASE", "BASE_URL")
"""Ends of the variables by which LiteLLM sends what is for a provider elsewhere."""


def refuse_credentials(base_url: str) -> None:
    """Turn away an address with a user name or password in it.

    No request could send them beside a key.

    Raises `ConfigError` if `base_url` holds credentials; the message does not repeat them.
    """
    safe = without_secrets(base_url)
    if f"{MASK}@" in safe:
        raise ConfigError(
            f"base URL {safe!r}: leave user name and password out, and put the server's key"
            " into the environment"
        )


def key_from(variable: str) -> str | None:
    """Return the key that an environment variable holds, or None if it holds none.

    Raises `ConfigError` if no header can carry it; the message does not repeat it.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{variable} holds characters that no HTTP header can carry")
    return key or None


def missing_key(provider: str) -> str:
    """Say which variable should hold the key of a provider, by LiteLLM's name; or return "".

    That is empty if a key is there, or may not be needed: the provider is not known, or a variable
    names another address. LiteLLM is not loaded for it, which takes seconds.

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


def is_redirect(status: int) -> bool:
    """Tell whether an answer sends the caller elsewhere."""
    return status in _REDIRECT


def redirect_refused(
    location: str, *, status: int, asked: str, source: str, key: str = ""
) -> UnusableModelError:
    """Return the error that a redirect with a status 3xx is.

    `location`, in full or within the server, is empty if the answer does not say where it leads.
    The message names the status and the host, without path and query, which may hold a key, and
    without `key`.
    """
    problem = (
        f"redirects are not followed, and it leads to {_host(location, asked=asked)}: give the"
        " server's final address as the base URL"
    )
    return UnusableModelError(f"{source}: {short_line(problem, status=status, key=key)}")


def _host(location: str, *, asked: str) -> str:
    """Return scheme, host and port of a target; nothing else of it is shown."""
    try:
        target = urlsplit(urljoin(asked, location) if location else "")
        port = f":{target.port}" if target.port else ""
    except ValueError:
        target, port = urlsplit(""), ""
    if not target.hostname:
        return "an address that it does not name"
    host = f"[{target.hostname}]" if ":" in target.hostname else target.hostname
    return f"{target.scheme}://{host}{port}"
