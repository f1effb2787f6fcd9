"""``python -m spanjury``."""

from spanjury.orchestration.cli import main

if __name__ == "__main__":  # worker processes import this file under another name
    main()
