"""Products of matrices: a cell's have equal bits wherever it stands in its batch."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import itertools
import swingby_sweeps.dynamics
import torch
torch.set_num_threads(1)
for dtype, m, r, n in itertools.product((torch.float32, torch.float64), (1, 2, 3, 9), (3, 8, 21, 64), (3, 8, 21)):
    left, right = torch.randn(7, m, r, dtype=dtype), torch.randn(7, r, n, dtype=dtype)
    whole = left @ right
    for cells in ([3], [5, 3], [1, 2, 3]):
        part = left[cells] @ right[cells]
        assert torch.equal(part[-1], whole[3]), (dtype, m, r, n, cells)
"""


def test_a_product_does_not_depend_on_its_place() -> None:
    """Batches of one, two, three and seven matrices give the same bits, on this machine's processor."""
    environment = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
