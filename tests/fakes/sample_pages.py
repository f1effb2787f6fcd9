"""A page of each kind, made of a few tokens; and tokens that no page should run."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from spanjury.orchestration.report.drawings.pages import (
    Flow,
    MarkedText,
    NgramPlaces,
    alignment_page,
    flow_page,
    heat_map_page,
    ngram_page,
)

HOSTILE = (
    "</script><script>document.body.dataset.owned=1</script>",
    "'\"><img src=x onerror=document.body.dataset.owned=1>",
    "</noscript></main><!--",
    "\u202etxt.exe",
    "\ud800",
    "\x00\u2028",
    "שלום",
    "",
    "&lt;&amp;",
    "https://example.org/",
)


def marked(*words: str) -> MarkedText:
    """Return words as a text with a space after each; empty ones are no words."""
    edges = [0]
    for word in words:
        edges.append(edges[-1] + len(word) + 1)
    spans = [(start, end - 1) for start, end in pairwise(edges) if end - 1 > start]
    return MarkedText(text="".join(f"{word} " for word in words), words=tuple(spans))


def heat_map(*tokens: str) -> str:
    values = np.eye(len(tokens)) * 0.5 + 0.25
    values[0, 1] = np.nan
    scores = (("precision", 0.5), (tokens[0], float("nan")))
    return heat_map_page(
        tokens[0], output=tokens, reference=tokens, similarities=values, scores=scores
    )


def flow(*tokens: str) -> str:
    flows = [
        Flow(output=at, reference=(at + 1) % len(tokens), mass=1 / (at + 1), cost=at / 10)
        for at in range(len(tokens))
    ]
    flows.append(Flow(output=0, reference=0, mass=0.5, cost=float("nan")))
    return flow_page(
        tokens[0], output=tokens, reference=tokens, flows=flows, scores=((tokens[1], 0.5),)
    )


def ngrams(*tokens: str) -> str:
    text = marked(*tokens)
    return ngram_page(
        tokens[0],
        output=text,
        references=(text, marked("other")),
        longest=3,
        ngrams=(
            NgramPlaces(n=1, output=(0, 1), references=((0,), ())),
            NgramPlaces(n=2, output=(1,), references=((1,), ())),
        ),
    )


def alignment(*tokens: str) -> str:
    text = marked(*tokens)
    pairs = ((0, 1), (1, 2))
    return alignment_page(tokens[0], output=text, reference=text, pairs=pairs)


PAGES: dict[str, Callable[..., str]] = {
    "heat_map": heat_map,
    "flow": flow,
    "ngrams": ngrams,
    "alignment": alignment,
}
