"""Tasks and their aspects, which users name and prompts describe.

`Catalogue.load` reads the TOML files next to this module and the user's own files. It raises
`ConfigError` if anything in them is missing, misspelt or contradictory. A `Rubric` adds weighted
criteria.
"""

from spanjury.judges.tasks.catalogue import ALL_ASPECTS, Catalogue, describe
from spanjury.judges.tasks.rubric import Rubric, criterion, is_criterion

__all__ = ["ALL_ASPECTS", "Catalogue", "Rubric", "criterion", "describe", "is_criterion"]
