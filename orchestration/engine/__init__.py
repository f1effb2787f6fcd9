"""Panel, aggregation, consolidation, batch: they run judges and know no file and no terminal."""
