"""The guides run: each command of a page in `docs/guides`, as it stands there, on a sweep of 27 cells.

What a page needs and this machine lacks is replaced, as the page says: a GPU by `--dry-run`, SLURM by a script.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.command import swingby
from tests.support.places import ROOT
from tests.support.rights import only_readable, without_powers
from tests.support.slurm import tools

GUIDES = ROOT / "docs" / "guides"
LEFT = ROOT / "tests" / "platform" / "imports" / "left.zip"
PAGES = sorted(path.stem for path in GUIDES.glob("*.md") if path.stem != "README")
SBATCH = 'for last in "$@"; do :; done\nbash -n "$last"\necho "Submitted batch job 1"'


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the guides have it: the sweep file of their first page, its code, and a data folder with results."""
    folder = tmp_path_factory.mktemp("study")
    (block,) = re.findall(r"^```yaml\n(.*?)^```", (GUIDES / "README.md").read_text(), flags=re.DOTALL | re.MULTILINE)
    (folder / "study.yaml").write_text(block)
    shutil.copy(ROOT / "examples" / "function" / "two_weights.py", folder)
    assert swingby("run", "study.yaml", "--local", "--no-pilot", cwd=folder).exit_code == 0
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_guide_ends_well(
    page: str, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, in a copy of the folder; a command of swingby in this process, any other in a shell."""
    folder = Path(shutil.copytree(study, tmp_path / "study"))
    for name in ("/lab", "/shared"):
        shutil.copytree(study / "data", f"{folder}{name}/data")
    shutil.copytree(study / "data", folder / "my-data")
    if page.startswith("from-"):
        with zipfile.ZipFile(LEFT) as left:
            left.extractall(folder)
    tools(tmp_path / "bin", {"sbatch": SBATCH})
    path = os.pathsep.join([str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    monkeypatch.delenv("SWINGBY_DATA", raising=False)
    before = os.umask(0o022)
    os.umask(before)
    commands = re.findall(r"^\$ (.*)$", (GUIDES / f"{page}.md").read_text(), flags=re.MULTILINE)
    assert 4 <= len(commands) <= 12
    if page == "advisor":
        with only_readable(folder / "lab"):
            without_powers(lambda: ran(commands, folder))
    else:
        with monkeypatch.context() as patch:
            ran(commands, folder, patch)
    assert os.umask(before) == before


def ran(commands: list[str], folder: Path, patch: pytest.MonkeyPatch | None = None) -> None:
    """Runs the commands one after the other; each has to end well."""
    for command in commands:
        here = re.sub(r"(?<=[ ='])/(lab|shared)", rf"{folder}/\1", re.split(r" {2,}#", command)[0])
        words = shlex.split(here)
        if words[0] == "export" and patch is not None:
            patch.setenv(*words[1].split("=", 1))
            continue
        if words[0] == "pdflatex" and shutil.which("pdflatex") is None:
            continue
        if re.search("--device cuda", here) and "--dry-run" not in words:
            words.append("--dry-run")
        if words[0].startswith("CUDA_VISIBLE_DEVICES="):
            words = words[1:]
        if words[:2] == ["swingby", "run"] and "--dry-run" not in words:
            words.append("--local")
        if words[0] == "swingby":
            done = swingby(*words[1:], cwd=folder)
            assert done.exit_code == 0, f"{command}\n{done.output}"
        else:
            shell = subprocess.run(["bash", "-c", here], cwd=folder, capture_output=True, text=True, timeout=120)
            assert shell.returncode == 0, f"{command}\n{shell.stdout}{shell.stderr}"
