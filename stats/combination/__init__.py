"""What several p-values say together."""
