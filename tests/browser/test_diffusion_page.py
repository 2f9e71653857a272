"""The page of a diffusion sweep in a browser without a network: everything is drawn, pictures included."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from swingby_analysis.report import write_report
from tests.browser.test_report_page import Drawn
from tests.support import synthetic_diffusion


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small sweep by both judges, with samples."""
    folder = tmp_path_factory.mktemp("diffusion")
    sweep = synthetic_diffusion.sweep("small", "  contrast: [0.2, 0.6]", 2, "trained, samples")
    synthetic_diffusion.write(folder / "data", sweep)
    return write_report("small", folder / "data", folder / "out", kinds=()).page


def test_everything_is_drawn_and_nothing_complains(browser: Browser, written: Path) -> None:
    """Offline, each figure has marks, the samples are pictures that the browser could read, the console stays empty."""
    opened = Drawn(browser, written)
    opened.open_all()
    marks = opened.page.evaluate(
        """() => [...document.querySelectorAll('[data-figure]')].map((figure) =>
            [figure.dataset.figure, figure.querySelectorAll('svg .role-mark path, svg .role-mark line').length])"""
    )
    pictures = opened.page.evaluate(
        """() => Promise.all([...document.querySelectorAll('[data-figure="samples"] image')].map(async (image) => {
            const picture = new Image();
            picture.src = image.getAttribute('href');
            await picture.decode();
            return [picture.src.slice(0, 22), picture.naturalWidth, image.getBBox().width]; }))"""
    )
    figures = set(re.findall(r'<div class="plot" data-figure="([^"]+)"', written.read_text()))
    assert {"concept-space", "concept-mse", "concept-speed", "samples", "map-learning-order"} <= figures
    assert {name for name, count in marks if count} == figures - {"samples"}
    assert len(pictures) == 2 * 8
    assert all(head == "data:image/png;base64," and own == 64 and shown > 40 for head, own, shown in pictures)
    assert opened.said == []
    assert opened.foreign == []
    opened.close()
