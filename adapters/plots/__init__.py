"""Pictures, by matplotlib, which nothing imports before one is wanted."""
