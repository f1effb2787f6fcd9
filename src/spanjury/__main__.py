"""``python -m spanjury``."""

from spanjury.orchestration.cli import main

main()
