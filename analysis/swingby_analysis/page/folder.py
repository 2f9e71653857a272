"""Pages with their pictures as folders, whole or not at all."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from swingby.data.files import TEMPORARY, clear_os_errors, files_below, sync_file, sync_folder, write_whole
from swingby_analysis.page import Figure, Page
from swingby_analysis.page.html import html
from swingby_analysis.page.markdown import markdown
from swingby_analysis.page.pictures import together

SHARPNESS, INSIDE = 2.0, 1.0
"""Pixels for each pixel of a figure: of the PNG files beside the page, and of the pictures in it."""


def write_page(
    path: Path,
    page: Callable[[Mapping[str, bytes]], Page],
    figures: Sequence[Figure] = (),
    kinds: Collection[str] = ("png",),
    also: Path | None = None,
) -> Path:
    """Writes a page, its Markdown and its figures in the place of the page's folder; returns the page's path.

    Args:
        path: of the page as HTML, in a folder of its own.
        page: from the pictures that stand in it, PNG by the slug of the figure.
        figures: what it shows, each drawn as PNG for the page, and as files of these kinds beside it.
        also: where the Markdown goes besides.

    Raises:
        SwingbyError: Ctrl-C, or the disk refuses.
    """
    pictures = together(figures, kinds, SHARPNESS, INSIDE)
    parts = page({figure.slug: picture.inside for figure, picture in zip(figures, pictures, strict=True)})
    text, path = markdown(parts), path.expanduser().absolute()
    files = {
        f"{figure.slug}.{kind}": content
        for figure, picture in zip(figures, pictures, strict=True)
        for kind, content in picture.files.items()
    }
    beside = {path.name: html(parts).encode(), path.with_suffix(".md").name: text.encode()}
    replace_folder(path.parent, {**beside, **files})
    if also is not None:
        write_whole(also.expanduser().absolute(), lambda there: there.write_text(text, encoding="utf-8"))
    return path


def replace_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Puts a folder with these files in the place of `folder`: there is never a half-written one under its name.

    Raises:
        SwingbyError: the operating system refused; the folder is as it was before.
    """

    def fill(fresh: Path) -> None:
        for name, content in contents.items():
            (fresh / name).write_bytes(content)

    put_folder(folder, fill, "report")


def put_folder(folder: Path, fill: Callable[[Path], object], noun: str) -> None:
    """Puts a folder that `fill` has filled in the place of `folder`, whole or not at all.

    Raises:
        SwingbyError: the operating system refused, or `fill` raised it; the folder is as it was before.
    """
    fresh, old = (folder.with_name(f"{TEMPORARY}{uuid.uuid4().hex}") for _ in range(2))
    with clear_os_errors(f"write the {noun} {folder}"):
        try:
            fresh.mkdir(parents=True)
            fill(fresh)
            for path in files_below(fresh):
                sync_file(path)
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
            sync_folder(folder.parent)
        finally:
            for leftover in (fresh, old):
                shutil.rmtree(leftover, ignore_errors=True)
