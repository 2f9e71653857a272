"""Text as LaTeX sets it: every character that TeX takes for code is written as its name."""

from __future__ import annotations

import unicodedata

from swingby.errors import SwingbyError
from swingby.options import option


def _letter(character: str) -> str:
    """TeX's name of a Greek letter."""
    words = unicodedata.name(character).replace("LAMDA", "LAMBDA").split()
    return words[-1].capitalize() if "CAPITAL" in words else words[-1].lower()


SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}", '"': r"\textquotedbl{}", "'": "'", "\u00a0": "~", "\u200b": "", "\u2212": r"\ensuremath{-}",
    "-": "{-}", "\u2013": r"\textendash{}", "\u2014": r"\textemdash{}", "\u2026": r"\ldots{}",
    "`": r"\textasciigrave{}", "\u201c": "``", "\u201d": "''", "\u2018": "`", "\u2019": "'",
    "\u2190": r"\ensuremath{\leftarrow}",
    "\u2192": r"\ensuremath{\rightarrow}", "\u2264": r"\ensuremath{\leq}", "\u2265": r"\ensuremath{\geq}",
    "\u00d7": r"\ensuremath{\times}", "\u00b7": r"\ensuremath{\cdot}", "\u00b1": r"\ensuremath{\pm}",
    "\u2248": r"\ensuremath{\approx}", "\u221e": r"\ensuremath{\infty}", "\u2260": r"\ensuremath{\neq}",
    "\u221a": r"\ensuremath{\surd}", "\u2211": r"\ensuremath{\Sigma}", "\u2016": r"\ensuremath{\|}",
    "\u00b0": r"\ensuremath{^\circ}", "\n": " ", "\t": " ",
    **{char: rf"\ensuremath{{^{digit}}}" for char, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)},
    **{char: rf"\ensuremath{{_{digit}}}" for char, digit in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)},
    "\u207b": r"\ensuremath{^{-}}",
    **{char: rf"\ensuremath{{\{_letter(char)}}}" for char in "αβγδεζηθικλμνξπρστυφχψωΔΣΩΛΦΘΓΠΨΞ"},
}  # fmt: skip
LETTERS = ("\u00a1", "\u017f")
"""Characters beyond ASCII that LaTeX sets as they are: letters of Western and Central Europe."""


def escaped(text: str, name: str) -> str:
    """A text that LaTeX sets as it stands.

    Raises:
        SwingbyError: a character that LaTeX does not set everywhere; names it and the figure.
    """
    for character in text:
        if character not in SPECIAL and not (" " <= character <= "~" or LETTERS[0] <= character <= LETTERS[1]):
            raise SwingbyError(
                f"figure {name!r} has the character {character!r}, which PGF cannot set; {option('formats', 'pdf')} can"
            )
    return "".join(SPECIAL.get(character, character) for character in text)
