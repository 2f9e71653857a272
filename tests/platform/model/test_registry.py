"""What packages offer: found by one declaration or by single entry points, imported when asked for, faults told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from swingby.archive import shipped
from swingby.errors import SwingbyError
from swingby.model import package_files, registry
from swingby.sweepfile.sweep import Sweep, named_sweeps
from tests.support.command import swingby

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
    assert site / "lab4" / "statements" in [Path(str(folder)) for folder in package_files.folders("statements")]
    assert [file.name for file in package_files.data_files("statements", ".sql") if "lab4" in str(file)] == ["one.sql"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("x = 1 + (", "SyntaxError: '(' was never closed"),
        ("import sys; sys.exit('no')", "SystemExit: no"),
        ("", "it declares no PACKAGE"),
        ("PACKAGE = {'experiments': {}}", "is no swingby.model.registry.Package"),
        ("from swingby.model.registry import Package\nPACKAGE = Package(experiments={'a': 'b'})", "'module:Name'"),
    ],
    ids=["missing", "raises", "syntax", "exits", "empty", "mapping", "value"],
)
def test_a_broken_package_costs_itself_only(
    install: Install, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    """All else is offered as before; one line says which package is at fault, where, and what to do, once a process.

    Whoever asks for what nobody offers is told that the broken package may have it.
    """
    name = f"lab5_{len(text)}"
    asks = (registry.packages, lambda: registry.offered(registry.EXPERIMENTS), named_sweeps, shipped)
    whole = [sorted(ask()) for ask in asks]
    site = install(name, {f"{name}/__init__.py": text}, declared(name))
    assert [sorted(ask()) for ask in asks] == whole
    printed, told = capsys.readouterr()
    assert printed == ""
    assert len(told.splitlines()) == 1
    assert f"warning: the package '{name}' ({name} 1.0) cannot be loaded: " in told
    assert why in told
    assert "mend or uninstall it" in told
    if "Error" in why:
        assert f"{site}/{name}/__init__.py, line " in told
    with pytest.raises(SwingbyError, match=f"belongs to what cannot be loaded: the package '{name}'"):
        registry.experiment("of-nobody")


def test_beside_a_broken_package_its_siblings_are_offered(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two packages in one folder, the sound one is whole; the other is named with the line of the fault."""
    files = {
        "lab11/__init__.py": "",
        "lab11/sound/__init__.py": DECLARED.format(name="lab11"),
        "lab11/sound/experiment.py": EXPERIMENT,
        "lab11/torn/__init__.py": "\n\ndef (",
    }
    site = install("lab11", files, declared("lab11"))
    assert registry.experiment("lab11").name == "mine"
    assert f"SyntaxError: invalid syntax ({site}/lab11/torn/__init__.py, line 3)" in capsys.readouterr().err


def test_a_broken_package_leaves_every_verb(install: Install, tmp_path: Path) -> None:
    """The help lists all verbs; a sweep is trained and asked, with nothing but its results on standard output; the
    doctor shows the fault, and goes on."""
    files = {
        "lab6/__init__.py": "",
        "lab6/torn/__init__.py": "1 / 0",
        "lab6/mine/__init__.py": DECLARED.format(name="lab6"),
    }
    install("lab6", files, declared("lab6"))
    helped = swingby("--help")
    assert helped.exit_code == 0
    assert "doctor" in helped.stdout
    assert "report" in helped.stdout
    assert "'lab6.torn' (lab6 1.0) cannot be loaded: ZeroDivisionError" in helped.stderr
    examined = swingby("doctor", "--no-ray", "--data", tmp_path / "data")
    assert examined.exit_code == 1
    assert "FAULT swingby.packages: the package 'lab6.torn' (lab6 1.0) cannot be loaded" in examined.stdout
    assert "FAULT swingby.drawings lab6_map: the drawing 'lab6_map' of lab6.mine.draw (lab6 1.0)" in examined.stdout
    assert "disk" in examined.stdout
    used = swingby("lab6", "figure-5", "--fast")
    assert used.exit_code == 2
    assert "the command 'lab6' of lab6.mine.cli (lab6 1.0) cannot be loaded: ModuleNotFoundError" in used.stderr
    sweep = "name: beside-torn\nexperiment: sim\nbase: {d: 2, n: 20, epochs: 2, batch_size: 8}\n"
    (tmp_path / "small.yaml").write_text(sweep)
    data = ["--data", str(tmp_path / "data")]
    ran = swingby("run", tmp_path / "small.yaml", "--local", "--no-pilot", *data)
    assert ran.exit_code == 0, ran.stderr
    asked = swingby("sql", "select count(*) as cells from sim", "--format", "csv", *data)
    assert asked.stdout == "cells\n1\n"
    missed = swingby("lab66")
    assert missed.exit_code == 2
    assert "ZeroDivisionError" in missed.stderr


SWEEP = """
name: beside-a-broken-detector
experiment: {toy}
outcome: {outcome}
"""


def test_a_broken_detector_costs_its_outcomes_only(
    install: Install, toy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every other detector is applied; who names an outcome that nobody offers is told of the broken one. Whatever its
    import or its construction raises is a fault of it alone."""
    points = "[swingby.detectors]\nlab12_a = lab12.a:A\nlab12_b = lab12.b:B\n"
    files = {
        "lab12/__init__.py": "",
        "lab12/a.py": "import sys\nsys.exit(1)\n",
        "lab12/b.py": "class B:\n    def __init__(self):\n        raise OSError('no licence')\n",
    }
    before = [item.name for item in registry.detectors_for(toy)]
    install("lab12", files, points)
    assert [item.name for item in registry.detectors_for(toy)] == before
    assert [item.name for item in registry.detectors_for(toy)] == before
    told = capsys.readouterr().err
    assert told.count("the detector 'lab12_a' of lab12.a (lab12 1.0) cannot be loaded: SystemExit: 1") == 1
    assert told.count("OSError: no licence") == 1
    assert set(registry.broken_detectors(toy)) == {"lab12_a", "lab12_b"}
    with pytest.raises(SwingbyError, match=r"unknown outcome 'lost'(.|\n)*the detector 'lab12_a' of lab12\.a"):
        Sweep.parse(SWEEP.format(toy=toy, outcome="lost"), "lost.yaml")
    with pytest.raises(SwingbyError, match="no licence"):
        registry.detector("lab12_b")
    registry.require_detectors(toy)
    with pytest.raises(SwingbyError, match="no licence"):
        registry.require_detectors(toy, ["lab12_b"])


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
