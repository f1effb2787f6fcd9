"""Find and mask secrets in the address of a server."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

MASK = "[hidden]"
# In a message an address ends at a space; an address alone is the whole text.
_IN_TEXT = re.compile(r"(?<=://)[^/\s\"'<>]*@")
_ALONE = re.compile(r"(?:(?<=://)|^(?!.*://))(?:[^/?#]*@|[^/?#@\[\]]*:(?!\d*(?:[/?#]|$)).*@)")
"""User name and password of an address that is the whole text.

They end at the last ``@`` of the host's part; if the port is not a number, at the last ``@`` of the
address, since a password may contain characters that should have been encoded."""
_NAME = (
    r"(?:[\w-]*(?:api[-_]?key|access[-_]?key|token|secret|password|passwd|signature|credential)"
    r"[\w-]*|key|sig|pass|pwd|auth|code|subscription-key)"
)
_PARAMETER = re.compile(rf"(?P<name>[?&;#/]{_NAME}=)(?P<value>[^&;#\s\"'<>]+)", re.IGNORECASE)
_FRAGMENT = re.compile(r"#(?P<value>.+)$")
_ELEMENT = re.compile(r"(?<=[/?&=;])[^/?&=;#]+")
_KEY = re.compile(r"(?:sk|pk|rk|gsk|hf|xai|ghp|glpat|AIza)[-_]?[A-Za-z0-9_-]{8,}")
_NAMED = re.compile(r"(?:api[-_]?key|key|token|secret|password|passwd)[-_:.=].{3,}", re.IGNORECASE)
_QUERY = re.compile(r"(?<=[?&;])(?:(?P<name>[^=&;#]*)=)?(?P<value>[^&;#]+)")
_HARMLESS = re.compile(r"(?:api[-_]?)?version", re.IGNORECASE)
_RUN = re.compile(r"[A-Za-z0-9]{10,}")
_LONG_RUN = 16
"""Letters and digits of a run that need not be mixed in case to look like a key."""
_WORD = re.compile(r"[A-Z][a-z]{3,}|[a-z]{4,}|[A-Z]{4,}")
_NAME_SHARE = 0.6
"""Share of a name's letters and digits that belong to words of four letters or more."""
_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}[\w-]*")


def without_credentials(text: str, *, mask: str = "") -> str:
    """Return `text` with `mask` for user names, passwords and keys in the addresses in it.

    Examples
    --------
    >>> without_credentials("at http://me:pass@host/v1?api_key=abc", mask="-")
    'at http://-@host/v1?api_key=-'
    """
    text = _IN_TEXT.sub(f"{mask}@" if mask else "", text)
    return _PARAMETER.sub(lambda match: f"{match['name']}{mask}", text)


def without_secrets(url: str) -> str:
    """Return an address with a mask for all that is, or looks like, a secret in it.

    The mask replaces user name and password, all parameters except a version, the whole
    fragment, and each element of the path that looks like a key: its name says so, or it is a
    run of letters and digits that is not a word, a version or a UUID.

    Examples
    --------
    >>> without_secrets("http://me:pa/ss@host:8000/v1?api_key=abc")
    'http://[hidden]@host:8000/v1?api_key=[hidden]'
    >>> without_secrets("https://host/models/Meta-Llama-3.1-8B-Instruct/v1")
    'https://host/models/Meta-Llama-3.1-8B-Instruct/v1'
    """
    for secret in sorted(address_secrets(url), key=len, reverse=True):
        url = re.sub(rf"(?<![^/?&;=#@:]){re.escape(secret)}(?![^/?&;=#@:])", MASK, url)
    return _QUERY.sub(_masked, url)


def address_secrets(url: str) -> Iterator[str]:
    """Yield each part of an address that is, or looks like, a secret, spelled as in the address."""
    if credentials := _ALONE.search(url):
        user = credentials[0].removesuffix("@")
        yield user
        if password := user.partition(":")[2]:
            yield unquote(password)
        url = url.replace(credentials[0], "", 1)
    for match in (*_PARAMETER.finditer(url), *_FRAGMENT.finditer(url)):
        yield match["value"]
    _, scheme, rest = url.partition("://")
    after_host = re.search(r"[/?#].*", rest, re.DOTALL)
    path = f"/{url}" if not scheme else after_host[0] if after_host else ""
    for element in _ELEMENT.findall(path):
        if _looks_secret(unquote(element)):
            yield element


def _masked(parameter: re.Match[str]) -> str:
    name = parameter["name"] or ""
    if _HARMLESS.fullmatch(name) and not _looks_secret(unquote(parameter["value"])):
        return parameter[0]
    return f"{name}={MASK}" if parameter["name"] is not None else MASK


def _looks_secret(element: str) -> bool:
    if _KEY.match(element) or _NAMED.fullmatch(element):
        return True
    return not _VERSION.fullmatch(element) and any(map(_is_random, _RUN.findall(element)))


def _is_random(run: str) -> bool:
    """Return whether `run` has a digit and is not a name, which consists mostly of words.

    A short run must also mix upper and lower case.
    """
    if not any(map(str.isdigit, run)):
        return False
    mixed = any(map(str.isupper, run)) and any(map(str.islower, run))
    words = sum(map(len, _WORD.findall(run)))
    return (mixed or len(run) >= _LONG_RUN) and words < _NAME_SHARE * len(run)
