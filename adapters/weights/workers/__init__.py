"""Worker scripts for other environments, as text: they run there and are never imported here."""
