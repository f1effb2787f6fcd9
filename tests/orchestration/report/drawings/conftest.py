"""Pages to look at: a plain one and a hostile one of each kind."""

import pytest
from fakes.sample_pages import HOSTILE, PAGES


@pytest.fixture(params=PAGES)
def hostile_page(request: pytest.FixtureRequest) -> str:
    return PAGES[str(request.param)](*HOSTILE)


@pytest.fixture(params=PAGES)
def plain_page(request: pytest.FixtureRequest) -> str:
    return PAGES[str(request.param)]("the", "gunman", "was", "caught")
