"""Random draws that belong to a sample: a counter-based stream for each training position and each image."""

from __future__ import annotations

import numpy as np


def sample_stream(key: bytes, index: int) -> np.random.Generator:
    """The stream of sample `index` among those that `key` names: Philox, its counter begun 2**64 x index blocks on.

    Nothing but key and index matters: not how many samples there are, nor which process, batch or device asks.

    Args:
        key: 16 bytes, see `Cell.key`.
        index: not negative, below 2**64.
    """
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little"), counter=index << 64))
