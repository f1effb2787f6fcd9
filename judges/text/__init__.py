"""Text processing for judges: folding, searching, splitting, fencing, defusing, and templates."""

from spanjury.judges.text.fold import Folded, fold, fold_with_map
from spanjury.judges.text.json_object import object_in
from spanjury.judges.text.locate import LocatedQuote, Locator
from spanjury.judges.text.prompts import (
    AnswerMark,
    Fenced,
    Template,
    fence,
    fence_apart,
    field_mark,
    fill_template,
    is_fence_line,
    named_plainly,
    read_template,
    template,
)
from spanjury.judges.text.sentences import sentences
from spanjury.judges.text.template_tokens import DefusedModel, defused, unlisted
from spanjury.judges.text.words import folded_words

__all__ = [
    "AnswerMark",
    "DefusedModel",
    "Fenced",
    "Folded",
    "LocatedQuote",
    "Locator",
    "Template",
    "defused",
    "fence",
    "fence_apart",
    "field_mark",
    "fill_template",
    "fold",
    "fold_with_map",
    "folded_words",
    "is_fence_line",
    "named_plainly",
    "object_in",
    "read_template",
    "sentences",
    "template",
    "unlisted",
]
