"""Laws of code that travels: a wheel is all of a package or is not made, and no machine trains with other code."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swingby.data.provenance import required
from swingby.errors import SwingbyError
from swingby.run.ray import wheels
from swingby.run.ray.machines import Code, Machine, compare, describe_machine, required_names
from swingby.run.ray.wheels import make_wheel
from tests.support.command import swingby
from tests.support.places import MISBEHAVING, ROOT

INFO = "misbehaving_plugin-1.0.dist-info"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder in which somebody's package is installed, with a requirement and an extra."""
    folder = tmp_path / "site"
    shutil.copytree(MISBEHAVING, folder, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / INFO / "METADATA").open("a") as metadata:
        metadata.write("Requires-Dist: numpy>=2.0\nRequires-Dist: torch; extra == 'gpu'\nProvides-Extra: gpu\n")
    return folder


def installed(folder: Path) -> Distribution:
    """The package there."""
    return PathDistribution(folder / INFO)


def files(wheel: Path) -> dict[str, bytes]:
    """What is in a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


def test_a_wheel_is_the_installed_package(package: Path, tmp_path: Path) -> None:
    """It holds every file of the package and no other; pip installs it with the network gone and nothing beside it, and
    there it requires what it required."""
    wheel = make_wheel(installed(package), tmp_path)
    packed = files(wheel)
    modules = {path.name for path in package.glob("*.py")}
    assert {name for name in packed if "/" not in name} == modules
    assert all(packed[name] == (package / name).read_bytes() for name in modules)
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--quiet", "--target", str(tmp_path / "there")]
    subprocess.run([*pip, str(wheel)], check=True, timeout=120)
    assert required(installed(tmp_path / "there")) == required(installed(package)) == ["numpy>=2.0"]
    for place in (tmp_path / "there", package):  # of its extras, what training needs
        assert required(installed(place), {"torch", "ray"}) == ["numpy>=2.0", "torch"]
    assert {path.name for path in (tmp_path / "there").iterdir()} - {"__pycache__"} == {*modules, INFO}
    entries = [(point.group, point.name) for point in installed(tmp_path / "there").entry_points]
    assert entries == [("swingby.experiments", "walk"), ("swingby.detectors", "walk_height")]


def test_a_wheel_is_known_by_its_name(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same files make the same wheel, to the byte; any other byte in them makes one of another name, though the
    version is the same: a cluster that has the older one gets the newer one too."""
    first = make_wheel(installed(package), tmp_path)
    content = first.read_bytes()
    for path in package.rglob("*.py"):
        path.touch()
    clock = SimpleNamespace(time=lambda: time.time() + 86400, localtime=time.localtime)  # a zip's is of two seconds
    monkeypatch.setattr(zipfile, "time", clock)
    assert make_wheel(installed(package), tmp_path) == first
    assert first.read_bytes() == content
    with (package / "fork_server.py").open("a") as module:
        module.write("\n# another comment\n")
    second = make_wheel(installed(package), tmp_path)
    assert second.name != first.name
    assert second.name.startswith("misbehaving_plugin-1.0-")


@pytest.mark.parametrize(("gone", "said"), [("misbehaving_plugin.py", "lacks a file"), (f"{INFO}/RECORD", "no record")])
def test_half_a_package_does_not_travel(package: Path, tmp_path: Path, gone: str, said: str) -> None:
    """A package that lacks a file, or does not say which it has, is refused, and no wheel is left."""
    (package / gone).unlink()
    with pytest.raises(SwingbyError, match=said):
        make_wheel(installed(package), tmp_path)
    assert not list(tmp_path.glob("*.whl"))


def test_a_build_that_takes_too_long_is_told(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do instead, as any build that fails."""
    monkeypatch.setattr(wheels, "BUILD_SECONDS", 0.01)
    with pytest.raises(SwingbyError, match=r"was not built after 0\.01 s.*code='installed'"):
        wheels._built(distribution("swingby"), ROOT)


def test_this_package_travels_whole(tmp_path: Path) -> None:
    """Its wheel has every module and every data file of the three wings, as they are in the checkout, and its entry
    points; also where it is installed as a link to its sources."""
    packed = files(make_wheel(distribution("swingby"), tmp_path))
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    packages = ("platform/swingby/", "sweeps/swingby_sweeps/", "analysis/swingby_analysis/")
    wings = [name for name in listed if name.startswith(packages)]
    tracked = {name.partition("/")[2]: (ROOT / name) for name in wings if (ROOT / name).exists()}
    assert len(tracked) > 200
    assert {name for name, path in tracked.items() if packed.get(name) != path.read_bytes()} == set()
    (entries,) = (data for name, data in packed.items() if name.endswith(".dist-info/entry_points.txt"))
    assert entries.count(b"swingby_sweeps = swingby_sweeps") == 1


def code(told: list[str], **changes: Any) -> Code:
    """That of this package's own experiments."""
    return replace(Code("installed", ("sim",), told.append), **changes)


def here() -> Machine:
    """This machine."""
    one = code([])
    return describe_machine(one.packages(), required_names(one), None)


def test_a_machine_like_this_one_takes_part(tmp_path: Path) -> None:
    """What it says fits, and nothing is told; a folder that another machine made is seen, and one of its own is not."""
    told: list[str] = []
    machine = here()
    assert {"swingby", "torch", "numpy", "duckdb"} <= set(machine.versions)
    compare(code(told), machine, {"other": machine}, tmp_path)
    assert told == []
    assert describe_machine([], [], str(tmp_path)).sees_data
    assert not describe_machine([], [], str(tmp_path / "not" / "there")).sees_data


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sees_data": False}, "machine other does not see the data folder"),
        ({"code": {"swingby": None}}, "has no, or only a part of, the package swingby"),
        ({"code": {"swingby": "0"}}, r"has other code of the package swingby; .*let the code travel"),
        ({"torch": None}, "has no torch, and swingby needs torch>=.*install it there"),
        ({"duckdb": "1.0.0"}, r"has duckdb 1\.0\.0, and swingby needs duckdb"),
    ],
)
def test_a_machine_that_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    """Without the data, with other code or none, or with packages that do not fit: by name, with what to do."""
    machine = here()
    versions = {**machine.versions, **{name: value for name, value in changes.items() if name in machine.versions}}
    own = {name: value for name, value in changes.items() if name not in machine.versions}
    other = replace(machine, versions=versions, **own)
    with pytest.raises(SwingbyError, match=said):
        compare(code([]), machine, {"like this": machine, "other": other}, Path("data"))


def test_other_versions_are_told() -> None:
    """A package of another version that fits is told once, with the machines that have it; the run goes on."""
    told: list[str] = []
    machine = here()
    other = replace(machine, versions={**machine.versions, "torch": "2.999"})
    compare(code(told), machine, {"one": other, "two": other, "like this": machine}, Path("data"))
    (line,) = told
    assert line.startswith(
        f"torch is {machine.versions['torch']} here and 2.999 on one, 2.999 on two: numbers may differ"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--code", "wheel"], "goes with --address"), (["--code", "egg", "--address", "a:1"], "allowed: wheel")],
)
def test_how_code_comes_is_checked(words: list[str], said: str, tmp_path: Path) -> None:
    """`--code` without a cluster, or of no known kind, is refused before anything is made."""
    data = tmp_path / "data"
    done = swingby("run", "transient-memorization", "--data", data, *words)
    assert done.exit_code == 2
    assert said in done.output
    assert not data.exists()
