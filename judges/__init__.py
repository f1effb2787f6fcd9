"""What a judge is (`core`), what judges read by (`text`, `tasks`), and the judges themselves."""
