"""The limits of requests and of the service's capacity, which are also flags of its command."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Self

from spanjury.orchestration.services.exams.flag import Flag


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """The limits of requests and of the service's capacity; a row may be as long as a request."""

    max_checks: Annotated[int, Flag("Maximum concurrent checks; others wait.", min=1)] = 100
    max_check_wait: Annotated[
        float,
        Flag("Maximum expected wait of a check; beyond it, the answer is 429.", "SECONDS", min=0.0),
    ] = 10.0
    max_http_connections: Annotated[
        int,
        Flag(
            "Maximum concurrent connections. A new one replaces an idle one; if none is idle,"
            " it gets 503.",
            min=1,
        ),
    ] = 1_000
    max_body: Annotated[int, Flag("Maximum size of a request.", "BYTES", min=1)] = 2**22
    max_output: Annotated[
        int, Flag("Maximum length of a text in a check.", "CHARACTERS", min=1)
    ] = 100_000
    max_source: Annotated[
        int, Flag("Maximum total length of the sources in a check.", "CHARACTERS", min=1)
    ] = 1_000_000
    max_batch_body: Annotated[int, Flag("Maximum size of a batch.", "BYTES", min=1)] = 2**28
    max_rows: Annotated[int, Flag("Maximum number of rows in a batch.", "ROWS", min=1)] = 100_000
    max_batches: Annotated[int, Flag("Maximum batches judged at once; others wait.", min=1)] = 2
    max_waiting: Annotated[int, Flag("Maximum batches that wait; others get 429.", min=1)] = 100
    check_seconds: Annotated[
        float, Flag("Time limit for a check; beyond it, the answer is 504.", "SECONDS", min=0.01)
    ] = 300.0
    body_seconds: Annotated[
        float,
        Flag(
            "Time limit for a request body to arrive; beyond it, the answer is 408.",
            "SECONDS",
            min=0.01,
        ),
    ] = 20.0
    head_seconds: Annotated[
        float, Flag("Time limit for the headers of a request to arrive.", "SECONDS", min=0.01)
    ] = 10.0
    drain_seconds: Annotated[
        float, Flag("Time limit for running checks after SIGTERM.", "SECONDS", min=0.0)
    ] = 30.0
    keep_days: Annotated[
        float, Flag("Number of days to keep finished batches.", "DAYS", min=0.0)
    ] = 7.0

    def of_one(self, processes: int) -> Self:
        """Return the limits of one of `processes`, which share connections and checks."""
        return replace(
            self,
            max_checks=math.ceil(self.max_checks / processes),
            max_http_connections=math.ceil(self.max_http_connections / processes),
        )
