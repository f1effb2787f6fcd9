"""The flags that say what is done about models that fail."""

from spanjury.orchestration.engine.stopping import FailurePolicy

__all__ = ["failure_policy"]


def failure_policy(
    max_outage: float | None,
    *,
    no_preflight: bool,
    before: FailurePolicy = FailurePolicy(),
) -> FailurePolicy:
    """Return the policy that the flags ask for; what they leave open is as `before`."""
    return FailurePolicy(
        preflight=before.preflight and not no_preflight,
        max_outage=before.max_outage if max_outage is None else max_outage,
    )
