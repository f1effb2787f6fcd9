"""Where the command line's log goes; a library that is embedded sets none."""

import sys

import structlog

__all__ = ["log_to_standard_error"]


def log_to_standard_error() -> None:
    """Send errors to standard error, one line each; results stay on standard output."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger("error"),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
