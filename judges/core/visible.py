r"""Text from outside, made safe to show: on a terminal, within one line, in Markdown.

Ids, names, quotes, explanations and error messages come from files and models. On a terminal
a control character can set the title, clear the screen or forge a link, and a bidirectional
override can reorder the text after it; in Markdown a name can contain HTML, a link or the
end of a cell.
"""

import json
import re

# Lone surrogates cannot be encoded; control characters, and those that turn the direction of
# all that follows, would hide what is there. Tabs and the ends of lines are text.
_HIDDEN = re.compile(
    "[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e"
    "\u2066-\u2069\ufff9-\ufffb\ufffe\uffff]|\r(?!\n)"
)
_MARK = "\N{REPLACEMENT CHARACTER}"
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_NUMBERS = r"\[[-+.\d, ]*\](?![(\[:])"
"""Brackets around an interval, which do not make a link."""
_CODE = r"`[\w-]+`"
"""A name in backticks, which contains no other markup."""
_WORD = r"(?<=[^\W_])_+(?=[^\W_])"
"""Underscores within a word, which emphasise nothing."""
_MARKUP = re.compile(
    rf"(?P<keep>{_NUMBERS}|{_WORD}|{_CODE})|(?P<html>&(?!\s)|<(?![\s=.\d])|(?<!\s)>|>(?![\s=.\d]))"
    r"|(?P<escape>[\\`*_\[\]|~$]|^#|:(?=//)|(?<=\bwww)\.|@)"
)


def shown(text: str) -> str:
    r"""Return `text` with U+FFFD for each character that cannot be shown as it is.

    Examples
    --------
    >>> shown("a\x1b]0;title\x07b\u202ec\n") == "a\ufffd]0;title\ufffdb\ufffdc\n"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_MARK, text)


def one_line(text: str) -> str:
    r"""Return `text` as `shown` does, in one line."""
    return shown(" ".join(text.split()))


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number and what it counts, which has the plural in ``s`` unless another is named.

    Examples
    --------
    >>> counted(1, "text is", "texts are"), counted(2_000, "row")
    ('1 text is', '2,000 rows')
    """
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"


def shown_json(value: object, *, indent: int | None = None) -> str:
    r"""Write `value` as JSON that a terminal shows as it is; what it cannot show is escaped.

    Examples
    --------
    >>> print(shown_json({"id": "\x1bé\u202e"}))
    {"id": "\u001bé\u202e"}
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def markdown(text: str) -> str:
    r"""Return `text` so that Markdown shows it in one line as it is, also within a table.

    Examples
    --------
    >>> print(markdown("<b>x</b> | [y](http://z) my_system .5 [.4, .6]"))
    &lt;b&gt;x&lt;/b&gt; \| \[y\](http\://z) my_system .5 [.4, .6]
    """
    return _MARKUP.sub(_escaped, one_line(text))


def code_span(text: str) -> str:
    """Return `text` as code in Markdown, in one line; nothing in it can end the code."""
    line = one_line(text) or " "
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}" if longest else f"{fence}{line}{fence}"


def _escaped(match: re.Match[str]) -> str:
    if match["keep"] is not None:
        return match["keep"]
    return _HTML.get(match[0]) or f"\\{match[0]}"
