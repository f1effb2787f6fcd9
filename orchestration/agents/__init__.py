"""Tools, an output validator and a repair loop for agents of pydantic-ai."""
