"""Laws of the site of a store: every sweep is in it, drawn once, found by search, and its texts are text."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from swingby.errors import SwingbyError
from swingby_analysis.publish.site import INDEX, write_site
from tests.support.command import swingby


def test_a_site_has_every_sweep_and_draws_what_is_new(study: Path, tmp_path: Path) -> None:
    """A second call draws nothing; a sweep without a report is listed with the reason; no text is markup."""
    data, told = Path(shutil.copytree(study / "data", tmp_path / "data")), list[str]()
    index = write_site(tmp_path / "site", data, say=told.append)
    page = tmp_path / "site" / "dents" / "report.html"
    was, text = page.stat().st_mtime_ns, index.read_text()
    assert "drawn in" in told[0]
    assert write_site(tmp_path / "site", data, say=told.append).read_text() == text
    assert "unchanged" in told[1]
    assert page.stat().st_mtime_ns == was
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert 'href="dents/report.html"' in text
    assert not re.search(r'(?:src|href)="https?:', text)
    failing = tmp_path / "failing"
    failing.mkdir()
    (failing / "dents.py").write_text(
        (study / "dents.py").read_text().replace("def dents", "def falls").replace("w * w", "1/0")
    )
    (failing / "falls.yaml").write_text(
        "name: falls\nexperiment: dents.py\nbase: {rate: 0.1}\naxes: {steps: [2, 3]}\nseeds: 1\n"
    )
    swingby("run", failing / "falls.yaml", "--local", "--data", data)
    text = write_site(tmp_path / "site", data, say=told.append).read_text()
    assert text.count("<li data-words=") == 2
    assert "There is no report" in text


def test_an_index_of_something_else_stays(study: Path, tmp_path: Path) -> None:
    """A folder with somebody's own index is refused."""
    (tmp_path / INDEX).write_text("<h1>Mine</h1>")
    with pytest.raises(SwingbyError, match="was not written by"):
        write_site(tmp_path, study / "data")
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]
