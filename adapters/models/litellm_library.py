"""LiteLLM, set up before its import: import `litellm` from here and nowhere else.

Importing it takes seconds, so only the modules that talk to models import this one, and
they are loaded when a model is first named. Unset, the two variables would make that
import fetch a price list and read a ``.env`` file.
"""

import logging
import os
from importlib.metadata import version

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")

import litellm

__all__ = ["LITELLM_VERSION", "litellm"]

LITELLM_VERSION = version("litellm")
"""A part of signatures: it decides how a request is put to each provider."""

# It prints advice to standard output whenever a call fails, and logs what servers say.
litellm.suppress_debug_info = True
for _name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)
