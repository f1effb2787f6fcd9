"""The wording of the prompts of this package, in the files of its folder ``templates``.

These are the functions of `spanjury.judges.text` of the same names, for these files.
"""

from functools import partial

from spanjury.judges import text

_PACKAGE = "spanjury.judges.llm"

read_template = partial(text.read_template, _PACKAGE)
fill_template = partial(text.fill_template, _PACKAGE)
template = partial(text.template, _PACKAGE)
