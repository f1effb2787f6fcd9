"""Reports: tables, and one renderer each for terminal, Markdown, HTML and JSON."""
