"""The fonts that are installed, by the name of their family, and how a chart finds one of them."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

import vl_convert

from swingby.errors import SwingbyError
from swingby.model.registry import nearest

ENDINGS = (".otf", ".ttf")
FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts", "/usr/share/texmf/fonts/opentype",
    "/usr/share/texlive/texmf-dist/fonts/opentype", "/usr/share/texlive/texmf-dist/fonts/truetype", "/Library/Fonts",
    "/System/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip
TEX_LIVE = Path("/usr/local/texlive")
FAMILY, TYPOGRAPHIC_FAMILY = 1, 16
"""Numbers of entries of a font's table of names."""


def use(font: str) -> str:
    """The family of a font, made known to the charts of this process.

    Args:
        font: a family that is installed, by the system or in a TeX tree, or the path of an .otf or .ttf file.

    Raises:
        SwingbyError: it is not there; names similar ones and how to install one.
    """
    path = Path(font).expanduser()
    if path.suffix.lower() in ENDINGS:
        family = family_of(path)
        if family is None:
            raise SwingbyError(f"font {font!r} is no file with an OpenType or TrueType font")
        _known_to_charts(path.resolve().parent)
        return family
    every = installed()
    if font not in every:
        raise SwingbyError(
            f"the font {font!r} is not installed; {nearest(font, list(every))}; the path of an .otf or .ttf file is "
            "taken, too. On Debian `apt-get install fonts-lmodern` has Latin Modern, `fonts-texgyre` one like Times"
        )
    for folder in every[font]:
        _known_to_charts(folder)
    return font


@cache
def installed() -> dict[str, set[Path]]:
    """The families of the fonts that are installed, and the folders of each."""
    tex = [tree / "fonts" / kind for tree in TEX_LIVE.glob("*/texmf-dist") for kind in ("opentype", "truetype")]
    families: dict[str, set[Path]] = {}
    for root in [*(Path(folder).expanduser() for folder in FOLDERS), *tex]:
        for path in sorted(root.rglob("*")) if root.is_dir() else ():
            if path.suffix.lower() in ENDINGS and (family := family_of(path)) is not None:
                families.setdefault(family, set()).add(path.parent)
    return families


def family_of(path: Path) -> str | None:
    """The family that a font file names; None of a file that cannot be read as one."""
    try:
        with path.open("rb") as file:
            head = file.read(12)
            for _ in range(struct.unpack(">H", head[4:6])[0]):
                tag, _, start, length = struct.unpack(">4sIII", file.read(16))
                if tag == b"name":
                    file.seek(start)
                    return _family(file.read(min(length, 1 << 20)))
    except (OSError, struct.error, UnicodeDecodeError):
        return None
    return None


def _family(names: bytes) -> str | None:
    """The family in a table of names: the typographic one, else that of a style of it."""
    _, count, texts = struct.unpack(">HHH", names[:6])
    known: dict[int, str] = {}
    for entry in range(count):
        platform, _, _, name, length, start = struct.unpack(">HHHHHH", names[6 + 12 * entry : 18 + 12 * entry])
        if name in (FAMILY, TYPOGRAPHIC_FAMILY) and (name not in known or platform == 3):
            encoding = "utf-16-be" if platform in (0, 3) else "latin-1"
            known[name] = names[texts + start : texts + start + length].decode(encoding)
    return known.get(TYPOGRAPHIC_FAMILY) or known.get(FAMILY)


@cache
def _known_to_charts(folder: Path) -> None:
    vl_convert.register_font_directory(str(folder))
