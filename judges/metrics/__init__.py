"""Classic metrics: numbers computed from an output, its references or its source, with cards."""
