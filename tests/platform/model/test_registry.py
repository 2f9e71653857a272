"""What packages offer: found by one declaration or by single entry points, imported when asked for, faults told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swingby.archive import shipped
from swingby.cli import app
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.sweepfile.sweep import named_sweeps

Install = Callable[[str, Mapping[str, str], str], Path]

DECLARED = """from swingby.model.registry import Package
PACKAGE = Package(
    experiments={{"{name}": "experiment:Mine"}}, detectors={{"{name}_bends": "detect:Bends"}},
    drawings={{"{name}_map": "draw:Map"}}, commands={{"{name}": "cli:{name}"}})
"""
EXPERIMENT = "class Mine:\n    name = 'mine'\n"
DETECT = "class Bends:\n    name, experiments = 'bends', ('{name}', 'sim')\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution from its files and the text of its entry points; gives its folder."""
    before = set(sys.modules)

    def installed(name: str, files: Mapping[str, str], points: str) -> Path:
        site = tmp_path / f"site-{name}"
        about = {
            f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{name}-1.0.dist-info/entry_points.txt": points,
        }
        for path, text in {**files, **about}.items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_text(text)
        monkeypatch.syspath_prepend(str(site))
        return site

    yield installed
    for name in set(sys.modules) - before:
        if name.startswith("lab"):
            del sys.modules[name]


def declared(name: str) -> str:
    """The entry points of a distribution that declares its packages."""
    return f"[swingby.packages]\n{name} = {name}\n"


def test_a_package_is_found_by_its_declaration(install: Install) -> None:
    """What a package directly in the named one declares is offered, and nothing of it is imported before it is asked
    for."""
    files = {
        "lab1/__init__.py": "",
        "lab1/mine/__init__.py": DECLARED.format(name="lab1"),
        "lab1/mine/experiment.py": EXPERIMENT,
        "lab1/mine/detect.py": DETECT.format(name="lab1"),
        "lab1/plain/__init__.py": "",
    }
    install("lab1", files, declared("lab1"))
    assert "lab1.mine" in registry.packages()
    assert registry.offered(registry.EXPERIMENTS)["lab1"].value == "lab1.mine.experiment:Mine"
    assert registry.offered(registry.COMMANDS)["lab1"].value == "lab1.mine.cli:lab1"
    assert registry.offered(registry.DRAWINGS)["lab1_map"].value == "lab1.mine.draw:Map"
    dist = registry.offered(registry.EXPERIMENTS)["lab1"].dist
    assert dist is not None
    assert dist.metadata["Name"] == "lab1"
    assert "lab1.mine.experiment" not in sys.modules
    assert registry.experiment("lab1").name == "mine"
    assert "lab1.mine.detect" not in sys.modules


def test_the_named_module_may_be_such_a_package_itself(install: Install) -> None:
    """Somebody who ships one experiment needs no folder around it."""
    install(
        "lab2", {"lab2/__init__.py": DECLARED.format(name="lab2"), "lab2/experiment.py": EXPERIMENT}, declared("lab2")
    )
    assert registry.experiment("lab2").name == "mine"


def test_detectors_belong_to_the_experiments_of_their_package(install: Install) -> None:
    """A detector is asked of its package's experiments, and not imported for others, whatever it says."""
    files = {"lab3/__init__.py": DECLARED.format(name="lab3"), "lab3/detect.py": DETECT.format(name="lab3")}
    install("lab3", files, declared("lab3"))
    assert "bends" not in [
        item.name for item in registry.detectors_for("sim") if type(item).__module__ == "lab3.detect"
    ]
    assert "lab3.detect" not in sys.modules
    assert [type(item).__module__ for item in registry.detectors_for("lab3")] == ["lab3.detect"]


def test_data_files_are_found_by_their_folders(install: Install) -> None:
    """Sweeps at any depth, without an `__init__.py`; statements too; and the packages of the older groups."""
    sweep = "name: {name}\nexperiment: sim\n"
    files = {
        "lab4/__init__.py": DECLARED.format(name="lab4"),
        "lab4/sweeps/lab4-one.yaml": sweep.format(name="lab4-one"),
        "lab4/sweeps/deep/er/lab4-two.yaml": sweep.format(name="lab4-two"),
        "lab4/sweeps/notes.txt": "",
        "lab4/statements/one.sql": "select 1",
        "lab4_more/__init__.py": "",
        "lab4_more/lab4-three.yaml": sweep.format(name="lab4-three"),
    }
    site = install("lab4", files, declared("lab4") + "[swingby.sweeps]\nmore = lab4_more\n")
    assert {name for name in named_sweeps() if name.startswith("lab4")} == {"lab4-one", "lab4-two", "lab4-three"}
    assert site / "lab4" / "statements" in [Path(str(folder)) for folder in registry.folders("statements")]
    assert [file.name for file in registry.data_files("statements", ".sql") if "lab4" in str(file)] == ["one.sql"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nothing_of_this_name", "cannot be imported (ModuleNotFoundError"),
        ("1 / 0", "cannot be imported (ZeroDivisionError"),
        ("", "it declares no PACKAGE"),
        ("PACKAGE = {'experiments': {}}", "is no swingby.model.registry.Package"),
        ("from swingby.model.registry import Package\nPACKAGE = Package(experiments={'a': 'b'})", "'module:Name'"),
    ],
    ids=["missing", "raises", "empty", "mapping", "value"],
)
def test_a_broken_package_is_named(install: Install, text: str, why: str) -> None:
    """Whoever asks for anything is told which package is at fault, and what is wrong with it."""
    name = f"lab5_{len(text)}"
    install(name, {f"{name}/__init__.py": text}, declared(name))
    for ask in (registry.packages, lambda: registry.offered(registry.EXPERIMENTS), named_sweeps, shipped):
        with pytest.raises(SwingbyError, match=name) as told:
            ask()
        assert why in str(told.value)


def test_a_broken_package_leaves_the_command_its_own_verbs(install: Install, tmp_path: Path) -> None:
    """The help still lists the platform's verbs and names the package; the doctor does, too, and goes on."""
    install("lab6", {"lab6/__init__.py": "1 / 0"}, declared("lab6"))
    helped = CliRunner().invoke(app, ["--help"])
    assert helped.exit_code == 0
    assert "doctor" in helped.stdout
    assert "'lab6' cannot be imported" in helped.stderr
    examined = CliRunner().invoke(app, ["doctor", "--no-ray", "--data", str(tmp_path / "data")])
    assert examined.exit_code == 1
    assert "FAULT swingby.experiments: the package 'lab6' cannot be imported" in examined.stdout
    assert "disk:" in examined.stdout
    used = CliRunner().invoke(app, ["report", "figure-5"])
    assert used.exit_code == 2
    assert "'lab6' cannot be imported" in used.stderr


def test_a_name_that_two_packages_offer_is_told(install: Install) -> None:
    """By a declaration and by an entry point of another distribution; both are named."""
    install("lab7", {"lab7/__init__.py": DECLARED.format(name="lab7")}, declared("lab7"))
    install("lab8", {"lab8.py": EXPERIMENT}, "[swingby.experiments]\nlab7 = lab8:Mine\n")
    with pytest.raises(SwingbyError, match=r"two packages offer an experiment 'lab7'.*lab8 1\.0") as told:
        registry.experiment("lab7")
    assert "lab7.experiment:Mine (lab7 1.0)" in str(told.value)
    assert "lab7_bends" in registry.offered(registry.DETECTORS)


def test_one_thing_offered_in_both_ways_is_one(install: Install) -> None:
    """A package may declare itself and keep its entry points, for programs that know only these."""
    again = declared("lab9") + "[swingby.experiments]\nlab9 = lab9.experiment:Mine\n"
    install("lab9", {"lab9/__init__.py": DECLARED.format(name="lab9"), "lab9/experiment.py": EXPERIMENT}, again)
    assert registry.experiment("lab9").name == "mine"


def test_a_sweep_that_two_packages_offer_is_told(install: Install) -> None:
    """Both files are named."""
    files = {"lab10/__init__.py": DECLARED.format(name="lab10"), "lab10/sweeps/figure-5.yaml": "name: figure-5\n"}
    install("lab10", files, declared("lab10"))
    with pytest.raises(SwingbyError, match="two packages offer a sweep 'figure-5'"):
        named_sweeps()
