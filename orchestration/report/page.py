"""The frame of every page: an HTML file that loads nothing, and runs only its own script.

Foreign text is either escaped or in a block of JSON, which browsers do not run. The content
security policy of the page allows its styles and scripts by their digests.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib.resources import files
from types import MappingProxyType

from spanjury.judges.core import shown

_LOOK = files("spanjury.orchestration.report") / "look.css"
_NEW_PART = re.compile(r"(?<=[|.:=/])(?=[a-z])")
_NO_DATA: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its style, its content, and the script that draws it.

    In `body`, all foreign text is `safe`. The CSS of `style` follows the common style of all pages,
    and `script` runs at the end of the body. `data` is id of an element -> JSON or other plain text
    for the script, which may send requests to the page's own server if `asks_its_server`, and to no
    other.
    """

    title: str
    body: str
    style: str = ""
    script: str = ""
    data: Mapping[str, str] = field(default_factory=lambda: _NO_DATA)
    asks_its_server: bool = False


def page_html(page: Page) -> str:
    """Return a page as a self-contained file."""
    style = _LOOK.read_text(encoding="utf-8") + page.style
    policy = {
        "default-src": "'none'",
        "style-src": _digest(style),
        "script-src": _digest(page.script) if page.script else "",
        "connect-src": "'self'" if page.asks_its_server else "",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    allowed = "; ".join(f"{name} {sources}" for name, sources in policy.items() if sources)
    title = safe(page.title)
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>",
            page.body,
            *(_block(name, text) for name, text in page.data.items()),
            *([f"<script>{page.script}</script>"] if page.script else []),
            "</body>\n</html>\n",
        )
    )


def safe(text: str) -> str:
    """Return `text` escaped for HTML, with misleading control characters made visible."""
    return escape(shown(text))


def breakable(text: str) -> str:
    """Return `text` like `safe`, with line breaks allowed between parts of names."""
    return _NEW_PART.sub("<wbr>", safe(text))


def _block(name: str, text: str) -> str:
    """Return a data block for a script; characters with a meaning in HTML are escaped."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def _digest(code: str) -> str:
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
