"""Systems ranked: runs and people's scores, from files to a report."""
