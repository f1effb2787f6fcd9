"""The exam of repair: damage planted in good texts, a repair, and what is left of both."""
