"""Texts with numbers in braces: `{expression:form}`, where the expression is SQL and the form is that of a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from swingby.errors import SwingbyError
from swingby.store.sql import literal

_FORM = re.compile(r"^(.*[^:]):([-+,.\d]*[a-z%]?)$", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Field:
    """An SQL expression between braces, and the form in which its value is written."""

    expression: str
    form: str = ""

    @property
    def plain(self) -> bool:
        """Whether the expression is the name of a column."""
        return _NAME.fullmatch(self.expression) is not None


@dataclass(frozen=True)
class Template:
    """A text as its pieces."""

    pieces: Sequence[str | Field]

    @classmethod
    def of(cls, text: str) -> Template:
        """The pieces of a text; braces inside an expression have to be even.

        Raises:
            SwingbyError: a brace is not closed.
        """
        pieces: list[str | Field] = []
        place = 0
        while (start := text.find("{", place)) >= 0:
            depth, end = 1, start + 1
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            if depth:
                raise SwingbyError(f"a brace is not closed: {text[start : start + 60]}")
            if start > place:
                pieces.append(text[place:start])
            inner = text[start + 1 : end - 1].strip()
            form = _FORM.match(inner)
            pieces.append(Field(form[1].strip(), form[2]) if form else Field(inner))
            place = end
        return cls([*pieces, text[place:]] if place < len(text) else pieces)

    @property
    def fields(self) -> list[Field]:
        """The expressions between braces, with their forms."""
        return [piece for piece in self.pieces if isinstance(piece, Field)]

    @property
    def sql(self) -> str:
        """An SQL expression that writes the text."""
        text = ""
        for piece in self.pieces:
            text += piece if isinstance(piece, str) else f"{{:{piece.form}}}" if piece.form else "{}"
        if not self.fields:
            return literal(text)
        values = "".join(f",\n        {field.expression}" for field in self.fields)
        return f"format(\n        {literal(text)}{values}\n    )"
