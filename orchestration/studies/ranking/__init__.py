"""Systems ranked by a panel's scores, and by people's where they marked some of the texts."""
