"""Laws of the check of dependencies: what is installed is allowed, and what is not allowed is named."""

from __future__ import annotations

from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from tests.support.dependencies import looked_at, vulnerable


def installed(folder: Path, licence: str, name: str = "some") -> Distribution:
    """A package whose metadata holds these lines."""
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{licence}\n")
    return Distribution.at(folder)


def test_everything_installed_has_a_licence_on_the_list() -> None:
    """No package that is installed here has a licence that is not written down as allowed."""
    packages = looked_at(distributions())
    assert {"duckdb", "numpy", "ray", "torch"} <= {package.name for package in packages}
    assert [package for package in packages if package.refused] == []


@pytest.mark.parametrize(
    ("told", "refused"),
    [
        ("License-Expression: MIT", ()),
        ("License-Expression: GPL-3.0-only OR MIT", ()),
        ("License-Expression: MIT AND GPL-3.0-only", ("GPL-3.0-only",)),
        ("License-Expression: (MIT OR Apache-2.0) AND AGPL-3.0-only", ("AGPL-3.0-only",)),
        ("License-Expression: Apache-2.0 WITH LLVM-exception", ()),
        ("License-Expression: LicenseRef-Proprietary", ("LicenseRef-Proprietary",)),
        ("Classifier: License :: OSI Approved :: BSD License", ()),
        ("Classifier: License :: Other/Proprietary License", ("Other/Proprietary License",)),
        ("License: MIT\nClassifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)", None),
        ("License: 3-Clause BSD License", ()),
        ("License: NVIDIA Proprietary Software", ("NVIDIA Proprietary Software",)),
        ("Summary: nothing about it", ("none told",)),
    ],
)
def test_a_licence_that_is_not_on_the_list_is_named(told: str, refused: tuple[str, ...] | None, tmp_path: Path) -> None:
    """A package is refused for the parts of its licence that nobody allowed, and for telling none."""
    (found,) = looked_at([installed(tmp_path, told)])
    assert bool(found.refused) if refused is None else found.refused == refused


def test_what_torch_brings_for_cuda_is_allowed_by_name(tmp_path: Path) -> None:
    """Torch's ordinary wheel brings NVIDIA's libraries; their licence is told, and nobody else's passes."""
    licence = "License: LicenseRef-NVIDIA-Proprietary"
    for name, refused in (("nvidia-cublas-cu12", False), ("cuda-bindings", False), ("some-nvidia-thing", True)):
        (found,) = looked_at([installed(tmp_path, licence, name)])
        assert found.licence == "LicenseRef-NVIDIA-Proprietary"
        assert bool(found.refused) == refused


def test_a_known_vulnerability_is_named_with_its_remedy() -> None:
    """Of what pip-audit answers, each vulnerability is a line: package, version, its number and where it is mended."""
    told = [
        {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2", "3"]}]},
        {"name": "b", "version": "1", "vulns": []},
        {"name": "c", "skip_reason": "unknown"},
    ]
    assert list(vulnerable(told)) == ["vulnerable: a 1: PYSEC-1, mended in 2, 3"]
