"""Finding one's way: the groups of the help, what is installed, tags and notes, and completion of sweeps' names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swingby.cli.console import sweep_names
from swingby.errors import InputFaults
from swingby.model import registry
from swingby.sweepfile.sweep import Sweep, named_sweeps
from tests.support.command import swingby
from tests.support.packages import install


def test_the_help_groups_the_verbs() -> None:
    """Verbs to run, to look, to keep, and about papers, each in its group, those of other packages too."""
    lines = swingby("--help").stdout.splitlines()
    groups, group = dict[str, str](), ""
    for line in lines:
        words = line.strip("│╭╮─ ").split()
        if line.startswith("╭"):
            group = words[0]
        elif line.startswith("│ ") and len(line) > 2 and line[2] != " ":
            groups[words[0]] = group
    assert {groups[verb] for verb in ("validate", "run", "cluster")} == {"Run"}
    look = ("list", "status", "sql", "report", "outcome", "diff", "watch", "serve")
    assert {groups[verb] for verb in look} == {"Look"}
    assert {groups[verb] for verb in ("gc", "pack", "doctor")} == {"Keep"}
    assert {groups[verb] for verb in ("claims", "findings")} == {"Papers"}
    assert set(groups.values()) - {"Options"} == {"Run", "Look", "Keep", "Papers"}, "each in a group of a name"


def test_what_is_installed_has_a_line_each(toy: str) -> None:
    """Every name with its title and its package, all four kinds in groups or one of them alone."""
    whole = swingby("list").stdout
    for kind, group in (("experiments", registry.EXPERIMENTS), ("detectors", registry.DETECTORS)):
        alone = swingby("list", kind).stdout.splitlines()
        assert {line.split()[0] for line in alone} == set(registry.offered(group))
        assert all(f"  {line.split()[0]}" in whole for line in alone)
    assert f"{toy}  " in whole
    assert "Trains nothing (toy_plugin)" in whole
    named = swingby("list", "sweeps").stdout.splitlines()
    assert [line.split()[0] for line in named] == sorted(named_sweeps())
    assert all(line.endswith(")") for line in named)


def test_named_sweeps_are_found_by_their_tags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with the tag, and nobody else; a tag that none has is told with the nearest."""
    (tmp_path / "lab_tags" / "sweeps").mkdir(parents=True)
    (tmp_path / "lab_tags" / "__init__.py").write_text(
        "from swingby.model.registry import Package\nPACKAGE = Package()\n"
    )
    (tmp_path / "lab_tags" / "sweeps" / "tagged.yaml").write_text("name: tagged\ntitle: Mine\ntags: [wide]\n")
    install(tmp_path, "lab_tags", "[swingby.packages]\nlab_tags = lab_tags\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert swingby("list", "--tag", "wide").stdout == "tagged  Mine (lab_tags) [wide]\n"
    none = swingby("list", "sweeps", "--tag", "wid")
    assert (none.exit_code, "did you mean 'wide'?" in none.stderr) == (2, True)


SWEEP = """
name: kept
experiment: walk
tags: [slow, first.try]
notes: tried before the holidays
axes: {width: [1, 2]}
"""


def test_tags_and_notes_are_presentation(walk: Any) -> None:
    """A sweep is the same with other tags; `status` shows and filters them; a second run with new ones trains nothing,
    and shows the new ones."""
    file = walk.folder / "kept.yaml"
    file.write_text(SWEEP)
    bare = Sweep.parse(SWEEP.replace("tags", "#").replace("notes", "#"), "bare.yaml")
    assert Sweep.load(file).sweep_id == bare.sweep_id
    data = ["--data", str(walk.data)]
    assert swingby("run", file, "--local", "--no-pilot", *data).exit_code == 0
    shown = swingby("status", *data).stdout
    assert "slow, first.try" in shown
    assert "tried before the holidays" in shown
    assert "kept" in swingby("status", "--tag", "slow", *data).stdout
    none = swingby("status", "--tag", "slwo", *data)
    assert none.exit_code == 2
    assert "did you mean 'slow'?" in none.stderr
    trained = len(walk.started())
    file.write_text(SWEEP.replace("first.try", "done"))
    assert swingby("run", file, "--local", "--no-pilot", *data).exit_code == 0
    assert "slow, done" in swingby("status", *data).stdout
    assert len(walk.started()) == trained


@pytest.mark.parametrize(
    ("tags", "told"),
    [("slow", "line 4: tags must be a list"), ("[a, 'b c']", "line 4: 'b c' is no tag"), ("[a, a]", "given twice")],
)
def test_wrong_tags_are_told(toy: str, tags: str, told: str) -> None:
    """With their line and what is allowed."""
    with pytest.raises(InputFaults, match=told):
        Sweep.parse(f"\nname: x\nexperiment: {toy}\ntags: {tags}\n", "x.yaml")


def test_named_sweeps_and_files_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell is offered the named sweeps, sweep files and folders that begin so, and nothing else on any stream."""
    monkeypatch.chdir(tmp_path)
    for name in ("figure-mine.yaml", "figure.txt"):
        Path(name).touch()
    Path("figures").mkdir()
    Path("figures/one.yml").touch()
    known = [name for name in sorted(named_sweeps()) if name.startswith("figure")]
    assert sweep_names("figure") == [*known, "figure-mine.yaml", "figures/"]
    assert sweep_names("figures/o") == ["figures/one.yml"]
    assert sweep_names("nowhere/x") == []
    words = {"_SWINGBY_COMPLETE": "complete_bash", "COMP_WORDS": "swingby validate figure-mi", "COMP_CWORD": "2"}
    command = str(Path(sys.executable).with_name("swingby"))
    done = subprocess.run([command], env={**os.environ, **words}, capture_output=True, text=True, timeout=120)
    assert (done.stdout.split(), done.stderr) == (["figure-mine.yaml"], "")
