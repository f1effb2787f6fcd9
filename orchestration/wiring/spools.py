"""Temporary files for data that is read again and does not fit into memory."""

from spanjury.adapters.files.spool import Spool, open_spool

__all__ = ["Spool", "open_spool"]
