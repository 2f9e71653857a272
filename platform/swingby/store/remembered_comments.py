"""Comments on the store of a data folder, made once for each generation."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from swingby.store.comments import comments
from swingby.store.reader import Store

_remembered: dict[Path, tuple[int, Sequence[str]]] = {}
_lock = threading.Lock()


def comments_of(data: Path, generation: int) -> Sequence[str]:
    """`comments` on a data folder, made once for each generation; none if that is not the newest any more."""
    with _lock:
        if _remembered.get(data, (None,))[0] != generation:
            with Store.open(data) as store:
                made = comments(store)
                if store.generation != generation:
                    return ()
            _remembered[data] = generation, made
        return _remembered[data][1]
