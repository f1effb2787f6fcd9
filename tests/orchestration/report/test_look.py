"""The colours of all pages: whatever is read stands out enough, in the light and in the dark."""

import re
from importlib.resources import files

import pytest

LOOK = (files("spanjury.orchestration.report") / "look.css").read_text(encoding="utf-8")
LIGHT, DARK = re.findall(r":root[^{]*\{(.*?)\}", LOOK, re.DOTALL)
GROUNDS = ("paper", "raised")
# What texts and links are written in, and what is drawn: WCAG 2.2, 1.4.3 and 1.4.11.
WRITTEN = ("ink", "faint", "good", "bad", "unsure", "failed", "accent")
DRAWN = ("second", "high")


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_as_the_standard_has_it() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#ffffff", "#767676") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("block", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_texts_and_drawings_stand_out_from_what_is_behind_them(block: str, ground: str) -> None:
    named = colours(block)
    behind = named[ground]
    assert not [name for name in WRITTEN if contrast(named[name], behind) < 4.5]
    assert not [name for name in DRAWN if contrast(named[name], behind) < 3]


def test_both_schemes_name_the_same_colours() -> None:
    assert colours(LIGHT).keys() == colours(DARK).keys()
    assert {*GROUNDS, *WRITTEN, *DRAWN} < colours(LIGHT).keys()
