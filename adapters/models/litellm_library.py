"""LiteLLM, set up before its import: import `litellm` from here and nowhere else.

Importing it takes seconds, so only the modules that talk to models import this one, and
they are loaded when a model is first named. Unset, the two variables would make that
import fetch a price list and read a ``.env`` file.
"""

import logging
import os
import sys
from typing import NoReturn

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")

import litellm
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from spanjury.adapters.models.litellm_guard import guard_httpx

__all__ = ["litellm"]

# It prints advice to standard output whenever a call fails, and logs what servers say.
litellm.suppress_debug_info = True
for _name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


async def _raise_what_broke(*_: object, **__: object) -> NoReturn:
    """Stand in for the second request that LiteLLM sends when a connection breaks.

    The first may have arrived, and cost: whether to ask again, and when, is the gateway's
    to say. No option of LiteLLM's turns it off.
    """
    error = sys.exception()  # what LiteLLM handles as it calls this
    assert error is not None
    raise error


AsyncHTTPHandler.single_connection_post_request = _raise_what_broke  # type: ignore[method-assign]  # no hook

guard_httpx()
