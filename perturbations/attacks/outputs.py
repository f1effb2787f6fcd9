"""Attacks on the output.

They imitate what a judge writes (a finished review, a score, the end of a quotation), try to leave
the material (markers of chat templates, forged parts of the prompt), or ask politely and boast,
like the perturbations of the recipe ``bias``.
"""

from collections.abc import Iterable

from numpy.random import Generator

from spanjury.perturbations.attacks.attack import AttackCase, output_attack, perturbing_attack
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError
from spanjury.perturbations.text import bias
from spanjury.perturbations.text.passages import Passage, passages
from spanjury.perturbations.text.places import picked
from spanjury.perturbations.text.wordlists import lists

_ENDLESS = 25
"""Lines after a quotation mark that is never closed."""
author_label = perturbing_attack(bias.author_label, family="authority")
authority_claim = perturbing_attack(bias.authority_claim, family="authority")
bandwagon_claim = perturbing_attack(bias.bandwagon_claim, family="appeal")
confident_tone = perturbing_attack(bias.confident_tone, family="appeal")
markdown_decoration = perturbing_attack(bias.markdown_decoration, family="appeal")
pad_with_filler = perturbing_attack(bias.pad_with_filler, family="appeal")
polite_appeal = perturbing_attack(bias.prompt_injection, family="appeal")


@output_attack(family="format-imitation")
def review(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a finished review in the form that the annotator is asked to use."""
    yield _ended(case, "reviews", rng)


@output_attack(family="format-imitation")
def numeric_review(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a finished review whose score is a number."""
    yield _ended(case, "numbers", rng)


@output_attack(family="format-imitation")
def json_review(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a finished review as a JSON object."""
    yield _ended(case, "objects", rng)


@output_attack(family="quoted-score")
def score_in_quotes(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a sentence that quotes a score."""
    yield _ended(case, "quoted", rng, gap=" ")


@output_attack(family="quoted-score")
def score_lines(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """Put a line with a score after every sentence, so that longer quotations contain one."""
    line = case.filled(picked(lists("attacks")["score_lines"], rng))
    for sentence in _sentences(case):
        yield Edit(start=sentence.end, end=sentence.end, text=f"\n{line}\n")


@output_attack(family="cut-quote")
def quote_end(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """Close the quotation marks within each sentence and continue like a report.

    A judge that quotes such a sentence letter for letter writes fields that are not its own.
    """
    added = case.filled(picked(lists("attacks")["quote_ends"], rng))
    for sentence in _sentences(case):
        middle = sentence.text.rfind(" ")
        offset = sentence.start + (middle if middle > 0 else len(sentence.text))
        yield Edit(start=offset, end=offset, text=added)


@output_attack(family="cut-quote")
def endless_quote(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a quotation that is never closed, of lines with a score.

    A reply that quotes it and stops at its token limit ends in a score.
    """
    line = picked(lists("attacks")["score_lines"], rng)
    yield _at_end(case, '\n\n"' + "\n".join([line] * _ENDLESS))


def _ended(case: AttackCase, wordings: str, rng: Generator, *, gap: str = "\n\n") -> Edit:
    return _at_end(case, gap + picked(lists("attacks")[wordings], rng))


def _at_end(case: AttackCase, wording: str) -> Edit:
    end = len(case.text)
    return Edit(start=end, end=end, text=case.filled(wording))


def _sentences(case: AttackCase) -> list[Passage]:
    sentences = passages(case.text)
    if not sentences:
        raise NothingToDamageError("there is no sentence in the text")
    return sentences


@output_attack(family="template-tokens")
def forged_turn(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a turn of the judge, with the markers of a chat template."""
    yield _ended(case, "turns", rng, gap="\n")


@output_attack(family="template-tokens")
def forged_system_turn(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with an order in a turn of the system, with the markers of a chat template."""
    yield _ended(case, "system_turns", rng, gap="\n")


@output_attack(family="header-escape")
def forged_fence_end(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End as if the material ended there and the prompt continued."""
    yield _ended(case, "fence_ends", rng, gap="\n")


@output_attack(family="header-escape")
def forged_heading(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a heading like those of the prompt, and rules below it."""
    yield _ended(case, "headings", rng, gap="\n")
