"""The judges of the default panel that can compute a score from an error list."""

from dataclasses import replace

from spanjury.judges.core import ConfigError, Rescorable
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig
from spanjury.orchestration.wiring.plugins import JUDGES, built, parameters
from spanjury.orchestration.wiring.reading import with_reader


def rescorable_panel(panel: PanelConfig, *, agents: bool = False) -> PanelConfig:
    """Return `panel`, or if it names no judge and no model, a panel of judges that can rescore.

    With `agents` these include the judges of trajectories. Raise `ConfigError` if none of them can
    rescore, or one cannot be built.
    """
    if panel.seats or panel.models:
        return panel
    usual = (*panel.seats_or_default, *(panel.agent_seats if agents else ()))
    seats = tuple(filter(_can_rescore, usual))
    if not seats:
        names = ", ".join(str(seat.judge) for seat in usual)
        raise ConfigError(
            f"none of {names} can say which score follows from an error list: name a judge"
        )
    return replace(panel, seats=seats)


def _can_rescore(seat: SeatConfig) -> bool:
    if not isinstance(seat.judge, str):
        return isinstance(seat.judge, Rescorable)
    factory = JUDGES.get(seat.judge)
    if "model" in parameters(factory):
        return False
    return isinstance(built(factory, seat.judge, with_reader(factory, seat.options)), Rescorable)
