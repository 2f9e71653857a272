"""A drawing that cannot be drawn: told when its sweep file is read if that shows it, else on the page."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest

from swingby.errors import InputFaults, SwingbyError
from swingby.sweepfile.sweep import Sweep
from swingby_sweeps.sim.drawings.trajectories import Trajectories
from tests.support import synthetic_sim
from tests.support.command import swingby

SWEEP = synthetic_sim.SQUARE.format(name="drawn", title="Drawn", points=2, seeds=3).split("diagram:")[0]
BOTH = "drawings: [{trajectories: {plane: [1, 2]}}, loss_curves]\n"


def parse(drawings: str, *overrides: str) -> Sweep:
    """The sweep over mu.1 and init_gain, with these drawings."""
    return Sweep.parse(SWEEP + drawings, "drawn.yaml", overrides)


@pytest.mark.parametrize("along", ["mu.1", "mu", "init_gain"])
def test_lines_may_differ_in_what_an_axis_changes(along: str) -> None:
    """Its name in full or the parameter that it is an entry of."""
    (drawn,) = parse(f"drawings: [{{trajectories: {{along: {along}}}}}]").drawings
    assert drawn.options["along"] == along


def test_lines_may_differ_in_what_advances_with_another() -> None:
    """A zip changes each of its names."""
    axes = "axes: {zip: [{mu.1: [1.0, 2.0], init_gain: [0.1, 0.2]}]}\n"
    text = re.sub(r"axes:\n(  .*\n)+", axes, SWEEP)
    sweep = Sweep.parse(f"{text}drawings: [{{trajectories: {{along: init_gain}}}}]", "zipped.yaml")
    assert len(sweep.drawings) == 1


@pytest.mark.parametrize("along", ["nu", "mu.0", "init_gian", "sigma"])
def test_lines_along_no_axis_are_refused_with_the_file(along: str) -> None:
    """The line of the option, what is wrong, and every name that is allowed: nothing is trained first."""
    with pytest.raises(InputFaults) as caught:
        parse(f"drawings:\n- loss_curves\n- trajectories:\n    along: {along}\n")
    line = len(SWEEP.splitlines()) + 4
    told = str(caught.value)
    assert f"line {line}" in told
    assert f"cannot differ in '{along}': no axis changes it" in told
    assert "allowed: init_gain, mu, mu.1" in told


def test_an_override_is_told_as_such() -> None:
    """What an option of the command line set is not told as a line of the file."""
    with pytest.raises(InputFaults, match=r"drawings=.*cannot differ in 'nu'"):
        parse("", "drawings=[{trajectories: {along: nu}}]")


@pytest.mark.parametrize("plane", ["[1, 1]", "[0, 1]", "[2, -1]"])
@pytest.mark.parametrize("name", ["trajectories", "training_points"])
def test_a_plane_of_no_two_concepts_is_refused_with_the_file(name: str, plane: str) -> None:
    """Concepts are counted from 1, and one alone spans no plane."""
    with pytest.raises(InputFaults, match=r"line \d+.*plane"):
        parse(f"record: {{also: [points]}}\ndrawings: [{{{name}: {{plane: {plane}}}}}]")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up runs of the sweep with both drawings."""
    folder = tmp_path_factory.mktemp("drawn")
    synthetic_sim.write(folder, parse(BOTH))
    return folder


def reported(data: Path, out: Path) -> tuple[str, str]:
    """What the command says beside the path, and the text of the page."""
    asked = ["report", "drawn", "--data", str(data), "--out", str(out)]
    result = swingby(*asked)
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == [str(out / "drawn" / "report.html")]
    return result.stderr, html.unescape((out / "drawn" / "report.html").read_text())


def headings(page: str) -> list[str]:
    """The figures of a page."""
    return re.findall(r'<figure id="([^"]+)"', page)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SwingbyError("<b>no</b> such plane"), "<b>no</b> such plane."),
        pytest.param(
            KeyError("centre_output"),
            "KeyError: 'centre_output' (test_drawing_faults.py, line ",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_drawing_that_fails_leaves_the_others(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    """The page warns of it by name with the reason, the command says so too, and every other figure is as before."""
    said, page = reported(data, tmp_path / "whole")
    assert "warning" not in said
    assert "left out, for it failed" not in page

    def fails(*_: Any) -> NoReturn:
        raise type(error)(*error.args)  # a fresh one: it keeps what stands on the stack

    monkeypatch.setattr(Trajectories, "figures", fails)
    said_now, page_now = reported(data, tmp_path / "part")
    sentence = f"The drawing `trajectories` (plane: [1, 2]) is left out, for it failed: {told}"
    shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", sentence)
    assert f'<p class="warning" role="note">{shown}' in page_now
    assert f"warning: {sentence}" in " ".join(said_now.split())
    assert headings(page_now) == [name for name in headings(page) if name != "trajectories"]
    assert len(headings(page_now)) == len(headings(page)) - 1
    assert "<b>no</b>" not in (tmp_path / "part" / "drawn" / "report.html").read_text()
