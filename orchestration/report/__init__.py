"""Reports: findings are put into tables once, and every renderer shows the same tables.

`document` describes the parts of a report with an example; names that studies need are exported
here.
"""

from spanjury.orchestration.report.document import (
    Block,
    Bullets,
    Paragraph,
    Picture,
    Report,
    Section,
)
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
    between,
    defined,
    estimate_cell,
    figure,
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
