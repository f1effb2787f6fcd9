"""Text as judges need it: folded, searched for quotes, split, fenced, made of templates."""

from spanjury.judges.text.fence import Fenced, fence
from spanjury.judges.text.fold import Folded, fold, fold_with_map
from spanjury.judges.text.locate import Locator, Place
from spanjury.judges.text.sentences import sentences
from spanjury.judges.text.templates import fill_template, read_template
from spanjury.judges.text.words import folded_words

__all__ = [
    "Fenced",
    "Folded",
    "Locator",
    "Place",
    "fence",
    "fill_template",
    "fold",
    "fold_with_map",
    "folded_words",
    "read_template",
    "sentences",
]
