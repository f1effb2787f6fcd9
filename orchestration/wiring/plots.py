"""Pictures; apart from the rest of the wiring, since whoever judges needs no numpy for it."""

from spanjury.adapters.plots.faithfulness_loading import load_faithfulness_plots
from spanjury.adapters.plots.loading import load_discernment_plots

__all__ = ["load_discernment_plots", "load_faithfulness_plots"]
