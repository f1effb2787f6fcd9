"""The repair of a text: a writer replaces what a panel marks; the panel keeps what is better."""
