"""How far raters agree with one another, and what a panel gains from its seats."""
