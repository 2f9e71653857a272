"""One headless Chromium for the tests of all pages that run in this process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

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
