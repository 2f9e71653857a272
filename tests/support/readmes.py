"""Sections of the experiments' .md files that a script writes between two marks."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.support.places import ROOT


def rewrite(marked: re.Pattern[str], section: Callable[[re.Match[str]], str]) -> None:
    """Writes the section of every .md file below `sweeps` that has the marks, and prints which were changed.

    Args:
        marked: both marks and what is between them.
        section: the new text of a match, with its marks.
    """
    for path in sorted((ROOT / "sweeps").rglob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = marked.sub(section, before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
