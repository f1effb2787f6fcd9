"""Tasks and the aspects judged in them: what users name, what prompts are made of.

`Catalogue.load` reads the TOML files beside this module and the user's own, and refuses with
`ConfigError` whatever is missing, misspelt or contradictory in them. A `Rubric` adds weighted
criteria to it.
"""

from spanjury.judges.tasks.catalogue import ALL_ASPECTS, Catalogue, describe
from spanjury.judges.tasks.rubric import Rubric, criterion

__all__ = ["ALL_ASPECTS", "Catalogue", "Rubric", "criterion", "describe"]
