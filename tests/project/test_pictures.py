"""The pictures of the pages on how it works are those that their script draws."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import draw_pictures
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "how-it-works"


@pytest.mark.parametrize("name", draw_pictures.PICTURES)
def test_a_committed_picture_is_the_one_that_the_script_draws(name: str) -> None:
    drawn = draw_pictures.PICTURES[name]().svg()
    assert (draw_pictures.FOLDER / name).read_text(encoding="utf8") == drawn


@pytest.mark.parametrize("name", draw_pictures.PICTURES)
def test_every_shape_of_a_picture_lies_within_its_frame(name: str) -> None:
    picture = ElementTree.fromstring(draw_pictures.PICTURES[name]().svg())
    width, height = map(float, picture.attrib["viewBox"].split()[2:])
    for shape in picture.iter():
        left, top = (float(shape.get(key, shape.get(f"{key}1", 0))) for key in ("x", "y"))
        assert 0 <= left <= left + float(shape.get("width", 0)) <= width
        assert 0 <= top <= top + float(shape.get("height", 0)) <= height


@pytest.mark.parametrize("name", draw_pictures.PICTURES)
def test_a_page_shows_the_picture(name: str) -> None:
    shown = {
        link for page in PAGES.glob("*.md") for link in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text("utf8"))
    }
    assert f"../images/{name}" in shown
