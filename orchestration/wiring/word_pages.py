"""Pages of metrics that compare words: shared n-grams, and the longest common subsequence."""

from collections.abc import Sequence
from itertools import pairwise

from spanjury.adapters.pages.alignment import LcsAlignment, alignment_page
from spanjury.adapters.pages.ngrams import NgramPlaces, SharedNgrams, ngram_page
from spanjury.adapters.pages.page import MarkedText
from spanjury.judges.core import Sample
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.overlap.alignments import lcs_alignment, ngram_matches
from spanjury.judges.metrics.overlap.bleu import Bleu, SacreBleu
from spanjury.judges.metrics.overlap.bleu_counts import bleu_tokens
from spanjury.judges.metrics.overlap.rouge import Rouge1
from spanjury.judges.metrics.words.rouge_tokens import rouge_words

__all__ = ["bleu_page", "rouge_alignment", "rouge_page"]

_Cut = tuple[MarkedText, Sequence[str]]
"""A text with its words as it is shown, and the words as they are compared."""


def bleu_page(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show the n-grams that BLEU counts, words cut and cased as it does."""
    metric = named.metric
    assert isinstance(metric, Bleu | SacreBleu)
    lowered = isinstance(metric, SacreBleu) and metric.lowercase
    cuts = []
    for text in (sample.output, *sample.references):
        words = bleu_tokens(text.lower() if lowered else text, metric.tokenize)
        cuts.append((_marked(text, words), words))
    return _shared(title, cuts, longest=metric.max_order)


def rouge_page(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show the words or pairs of words that ROUGE-1 and ROUGE-2 count."""
    cuts = [_rouge_cut(named, text) for text in (sample.output, *sample.references)]
    return _shared(title, cuts, longest=2)


def rouge_alignment(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show a longest common subsequence, whose length ROUGE-L counts."""
    (output, words), (reference, others) = (
        _rouge_cut(named, text) for text in (sample.output, sample.references[0])
    )
    pairs = lcs_alignment(words, others)
    return alignment_page(
        LcsAlignment(title=title, output=output, reference=reference, pairs=pairs)
    )


def _rouge_cut(named: NamedMetric, text: str) -> _Cut:
    metric = named.metric
    assert isinstance(metric, Rouge1)
    shown = rouge_words(text, script=metric.script, stem=False)
    compared = rouge_words(text, script=metric.script, stem=metric.stem)
    return _marked(text, shown), compared


def _shared(title: str, cuts: Sequence[_Cut], *, longest: int) -> str:
    output, *references = cuts
    ngrams = []
    for n in range(1, longest + 1):
        found = [
            {match.words: match for match in ngram_matches(output[1], words, n=n)}
            for _, words in references
        ]
        for ngram in dict.fromkeys(words for matches in found for words in matches):
            there = next(matches[ngram] for matches in found if ngram in matches)
            places = tuple(
                matches[ngram].reference if ngram in matches else () for matches in found
            )
            ngrams.append(NgramPlaces(n=n, output=there.output, references=places))
    return ngram_page(
        SharedNgrams(
            title=title,
            output=output[0],
            references=tuple(text for text, _ in references),
            longest=longest,
            ngrams=tuple(ngrams),
        )
    )


def _marked(text: str, words: Sequence[str]) -> MarkedText:
    """Find where words stand in a text; if one does not, show the words instead of the text."""
    folded = text.casefold()
    if len(folded) == len(text):
        places: list[tuple[int, int]] = []
        for word in words:
            start = folded.find(word.casefold(), places[-1][1] if places else 0)
            if start < 0:
                break
            places.append((start, start + len(word)))
        else:
            return MarkedText(text=text, words=tuple(places))
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word) + 1)
    return MarkedText(
        text=" ".join(words), words=tuple((start, end - 1) for start, end in pairwise(ends))
    )
