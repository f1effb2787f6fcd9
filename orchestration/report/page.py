"""The frame of every page: a file of HTML that loads nothing, and runs no script but its own.

Text from outside is either escaped or in a block of JSON that no browser runs. The page's own
policy names styles and scripts by their digests.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

from spanjury.judges.core import shown

_LOOK = files("spanjury.orchestration.report") / "look.css"
_NEW_PART = re.compile(r"(?<=[|.:=/])(?=[a-z])")
_NO_DATA: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: what it looks like, what it shows, and the script that draws it.

    Parameters
    ----------
    title
        Any text.
    body
        HTML, in which every text from outside is `safe`.
    style
        CSS, after the look that all pages share.
    script
        JavaScript, run at the end of the body; empty for a page that runs none.
    data
        Id of an element -> JSON or another plain text for the script.
    asks_its_server
        Whether the script may send requests to the server that the page is from, and to no other.
    """

    title: str
    body: str
    style: str = ""
    script: str = ""
    data: Mapping[str, str] = field(default_factory=lambda: _NO_DATA)
    asks_its_server: bool = False


def page_html(page: Page) -> str:
    """Return a page as a file that needs no other."""
    style = template(_LOOK) + page.style
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


def template(file: Traversable) -> str:
    """Return the text of a template."""
    return file.read_text(encoding="utf-8")


def safe(text: str) -> str:
    """Return `text` as HTML that shows it, with controls that change what is read made visible."""
    return escape(shown(text))


def breakable(text: str) -> str:
    """Return `text` as `safe` does; a line may end where a name or signature has a new part."""
    return _NEW_PART.sub("<wbr>", safe(text))


def _block(name: str, text: str) -> str:
    """Return data that a script reads; of what HTML gives a meaning to, JSON needs nothing."""
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def _digest(code: str) -> str:
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
