"""Everything foreign: models, servers, files."""
