"""A judge's card: what its exams say of it on one page, and whether that is enough."""
