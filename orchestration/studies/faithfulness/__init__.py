"""The faithfulness exam, which asks whether a judge's score follows its own error list."""
