"""One headless Chromium for the tests of all pages that run in this process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Without Chromium these tests fail, they are not skipped."""
    found = str(CHROMIUM) if CHROMIUM.exists() else shutil.which("chromium") or shutil.which("google-chrome")
    assert found, f"no Chromium at {CHROMIUM} nor on the path: install it (apt-get install chromium) to test the pages"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield started
        started.close()


class Opened:
    """A page of a context of its own, what it complained of, and every address that it asked for.

    Attributes:
        said: messages of the console, and errors.
        asked: addresses.
    """

    def __init__(self, browser: Browser, **options: Any) -> None:
        context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **options})
        self.page: Page = context.new_page()
        self.page.set_default_timeout(120_000)
        self.said, self.asked = list[str](), list[str]()
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        context.on("request", lambda request: self.asked.append(request.url))

    def close(self) -> None:
        """Ends the context."""
        self.page.context.close()
