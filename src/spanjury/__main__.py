"""``python -m spanjury``."""

from spanjury.orchestration.interfaces.cli import main

main()
