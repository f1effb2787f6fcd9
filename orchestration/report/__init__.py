"""Reports: a finding becomes tables once, and each renderer shows the same tables.

`document` says what a report is made of and shows its use; what a study needs is exported here.
"""

from spanjury.orchestration.report.document import (
    Block,
    Bullets,
    Paragraph,
    Picture,
    Report,
    Section,
)
from spanjury.orchestration.report.numbers import between, defined, figure
from spanjury.orchestration.report.plot import Plot, PlotPoint
from spanjury.orchestration.report.prose import Prose, code, emphasis, named, prose, strong
from spanjury.orchestration.report.tables import (
    Bounded,
    Cell,
    Column,
    Entry,
    Line,
    Row,
    Table,
    apart,
    estimate_cell,
    left,
    line,
    numeric,
    right,
    row,
    spread,
    table,
    table_of,
)

__all__ = [
    "Block",
    "Bounded",
    "Bullets",
    "Cell",
    "Column",
    "Entry",
    "Line",
    "Paragraph",
    "Picture",
    "Plot",
    "PlotPoint",
    "Prose",
    "Report",
    "Row",
    "Section",
    "Table",
    "apart",
    "between",
    "code",
    "defined",
    "emphasis",
    "estimate_cell",
    "figure",
    "left",
    "line",
    "named",
    "numeric",
    "prose",
    "right",
    "row",
    "spread",
    "strong",
    "table",
    "table_of",
]
