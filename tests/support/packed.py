"""What lies packed in a page."""

from __future__ import annotations

import base64
import gzip

from swingby_analysis.page.html import PACKED


def unpacked(page: str, name: str = "data") -> bytes:
    """The bytes that lie packed in a page under an id.

    Raises:
        KeyError: the page has nothing under it.
    """
    start = f'<script type="{PACKED}" id="{name}">'
    if start not in page:
        raise KeyError(name)
    text = page.split(start, 1)[1].split("<", 1)[0].encode()
    return gzip.decompress(base64.b85decode(text.translate(bytes.maketrans(b",.:", b"<&>"))))
