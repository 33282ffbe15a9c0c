"""Headless Chromium for tests, and a way into the web components that TensorBoard is made of."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--window-size=1500,1000",
)  # fmt: skip
WHAT_IS_MISSING = (
    "needs chromium and chromedriver (on Debian: apt-get install chromium chromium-driver) and selenium from PyPI"
)
PATIENCE_SECONDS = 60

# All elements of a selector, in shadow roots as well.
FIND = """
const found = [];
const look = (root, selector) => {
  found.push(...root.querySelectorAll(selector));
  for (const element of root.querySelectorAll('*')) if (element.shadowRoot) look(element.shadowRoot, selector);
};
look(arguments[1] ? (arguments[1].shadowRoot || arguments[1]) : document, arguments[0]);
return found;
"""

# The text of an element and of the shadow roots in it.
TEXT = """
const text = node => node.nodeType === Node.TEXT_NODE ? node.data : node.tagName === 'STYLE' ? '' :
  [...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes].map(text).join('');
return text(arguments[0]);
"""


def is_there() -> bool:
    """Return whether the browser, its driver and selenium are installed."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return False
    return all(shutil.which(name) for name in ("chromium", "chromedriver"))


class Page:
    """A page of TensorBoard in the browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        """Load a page afresh, also if only what follows # differs."""
        self.driver.get("about:blank")
        self.driver.get(address)

    def all(self, selector: str, inside: Any = None) -> list[Any]:
        """Return the elements of a selector, wherever they are in the page or inside an element."""
        found: list[Any] = self.driver.execute_script(FIND, selector, inside)
        return found

    def enter_frame(self, selector: str, text: str) -> None:
        """Go into the frame in a frame ... that has an element of a selector with this text."""
        self.until(lambda: self._is_in_frame(selector, text))

    def _is_in_frame(self, selector: str, text: str) -> bool:
        from selenium.common.exceptions import WebDriverException

        self.driver.switch_to.default_content()
        try:
            while not any(text in self.text(element) for element in self.all(selector)):
                frames = self.all("iframe")
                if not frames:
                    return False
                self.driver.switch_to.frame(frames[0])
        except WebDriverException:  # the page has just put another frame in its place
            return False
        return True

    def until(self, condition: Callable[[], Any]) -> Any:
        """Return the first truthy value of `condition`; fail if there is none for long."""
        from selenium.common.exceptions import StaleElementReferenceException

        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            with contextlib.suppress(StaleElementReferenceException):  # the page has drawn itself anew meanwhile
                if value := condition():
                    return value
            time.sleep(0.2)
        raise AssertionError(f"nothing came of {condition} on {self.driver.current_url}")

    def until_text(self, selector: str, text: str) -> str:
        """Return the text of the first element of a selector that contains `text`."""
        found: str = self.until(
            lambda: next((seen for seen in map(self.text, self.all(selector)) if text in seen), None)
        )
        return found

    def text(self, element: Any) -> str:
        """Return all text in an element, shown or not."""
        content: str = self.driver.execute_script(TEXT, element)
        return content

    def colours(self, path: Path, element: Any) -> np.ndarray:
        """Save a picture of the page, and return the part [height, width, 3] of it that shows an element."""
        import matplotlib.image

        self.driver.save_screenshot(str(path))
        box = self.driver.execute_script(
            "const b = arguments[0].getBoundingClientRect(); return [b.x, b.y, b.right, b.bottom].map(Math.round)",
            element,
        )
        left, top, right, bottom = (max(0, edge) for edge in box)
        return np.asarray(matplotlib.image.imread(path))[top:bottom, left:right, :3]


@contextmanager
def page(profile: Path) -> Iterator[Page]:
    """Start a browser with a profile of its own; end it afterwards."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.binary_location = str(shutil.which("chromium"))
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Page(driver)
    finally:
        driver.quit()
