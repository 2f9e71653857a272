"""The verbs `report`, `outcome` and `figures`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from swingby.cli.console import DEFAULT_DATA, LOOK, PAPERS, DataFolder, Overrides, panel, say, sweep_names, table, tell
from swingby.cli.options import Local
from swingby.data.remote.address import DATA_MARK
from swingby.errors import SwingbyError

FOR_PAPERS = "Figures for a paper"


@panel(LOOK)
def report(
    sweep: Annotated[
        str,
        typer.Argument(
            help="A sweep's name, its id (or the first digits), or a sweep file.",
            show_default=False,
            autocompletion=sweep_names,
        ),
    ],
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="The folder in which the report gets a folder of its own.")] = Path("out"),
    figures: Annotated[
        bool, typer.Option("--figures", help="Write each figure as PNG, SVG, PDF, CSV and Vega-Lite beside the page.")
    ] = False,
    png: Annotated[bool | None, typer.Option("--png/--no-png", help="Whether each figure is written as PNG.")] = None,
    svg: Annotated[bool | None, typer.Option("--svg/--no-svg", help="Whether each figure is written as SVG.")] = None,
    pdf: Annotated[bool | None, typer.Option("--pdf/--no-pdf", help="Whether each figure is written as PDF.")] = None,
    plane: Annotated[
        str, typer.Option(help="The two entries of a vector, counted from 1, that paths are drawn over.")
    ] = "1,2",
    supplement: Annotated[
        bool,
        typer.Option("--supplement", help="Write supplement.html too, which answers SQL over every run offline."),
    ] = False,
    redraw: Annotated[bool, typer.Option("--redraw", help="Draw the report again, changed or not.")] = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="Write figures as files for a paper, and no page.", rich_help_panel=FOR_PAPERS),
    ] = False,
    figure: Annotated[
        str | None,
        typer.Option(help="Which: map, curves, all, or names of a report's files.", rich_help_panel=FOR_PAPERS),
    ] = None,
    width: Annotated[
        str | None, typer.Option(help="With its unit: in, cm, mm, pt (TeX's) or bp.", rich_help_panel=FOR_PAPERS)
    ] = None,
    font: Annotated[
        str | None, typer.Option(help="A font that is installed, or its file.", rich_help_panel=FOR_PAPERS)
    ] = None,
    font_size: Annotated[float | None, typer.Option(help="Of all text, in pt.", rich_help_panel=FOR_PAPERS)] = None,
    title: Annotated[
        bool | None, typer.Option("--title/--no-title", help="Whether titles stand in it.", rich_help_panel=FOR_PAPERS)
    ] = None,
    legend: Annotated[
        str | None, typer.Option(help="right or bottom; else where it fits.", rich_help_panel=FOR_PAPERS)
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="Of pdf, pgf, svg and png.", rich_help_panel=FOR_PAPERS)
    ] = None,
    dpi: Annotated[int | None, typer.Option(help="Dots per inch of a PNG.", rich_help_panel=FOR_PAPERS)] = None,
) -> None:
    """Draws a sweep: one HTML page that works offline; prints its path. `--figures` writes each figure as files, too.

    `--paper` writes figures for a paper instead: at its column's width, with text in its font and of one size.

    Works on unfinished sweeps too: the page says what is missing. Where a drawing fails, the page says so and shows the
    others. A sweep that was never run in the data folder, but whose results are shipped with all their curves, is
    unpacked there first, and the page says that its results are recorded ones. A report that would be as it is (same
    results, same options, same code) is not drawn again.

    Example:

        swingby report transient-memorization --out out
        swingby report transient-memorization --paper --width 3.3in --font-size 8 --format pdf,pgf --figure map,curves
    """
    match = re.fullmatch(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*", plane)
    if match is None:
        raise SwingbyError(f"--plane {plane!r} is no pair of entries; write two numbers from 1 on, such as 1,2")
    chosen = {"png": png, "svg": svg, "pdf": pdf}
    kinds = [kind for kind, wish in chosen.items() if wish or (wish is None and figures)]
    vectors = int(match[1]), int(match[2])
    look = {"width": width, "font": font, "size": font_size, "title": title, "legend": legend, "dpi": dpi}
    fields = {name: value for name, value in look.items() if value is not None}
    fields |= {"formats": tuple(re.split(r"[\s,]+", form.strip()))} if form is not None else {}
    if paper:
        _write_paper(sweep, data, out, fields, figure, vectors)
        return
    if fields or figure is not None:
        raise SwingbyError("--figure, --width, --font, --font-size, --title, --legend, --format and --dpi need --paper")
    asked_for = [*kinds, *(["supplement.html"] if supplement else [])]
    if not redraw and (data / DATA_MARK).exists():
        from swingby_analysis.unchanged import unchanged

        if (known := unchanged(sweep, data, out, asked_for, vectors)) is not None:
            for warning in known.warnings:
                tell(f"warning: {warning}")
            tell("nothing has changed since it was drawn; --redraw draws it again")
            say(str(known.page))
            return
    from swingby.archive import unpack_shipped
    from swingby_analysis.report import write_report

    unpack_shipped(data, sweep, tell)
    written = write_report(sweep, data, out, kinds, vectors, say=tell, noted=True, supplement=supplement)
    for warning in (*written.remarks, *written.faults):
        tell(f"warning: {warning}")
    say(str(written.page))


def _write_paper(
    sweep: str, data: Path, out: Path, fields: dict[str, Any], figure: str | None, plane: tuple[int, int]
) -> None:
    """Writes figures for a paper; prints their paths and sizes, and the lines that include them."""
    from swingby.archive import unpack_shipped
    from swingby_analysis.page.paper import PaperLook
    from swingby_analysis.report.paper import MAP, write_paper

    look, names = PaperLook(**fields), re.split(r"[\s,]+", (figure or MAP).strip())
    unpack_shipped(data, sweep, tell)
    written = write_paper(sweep, data, out, look, names, plane, say=tell)
    for one in written:
        say(str(one))
    for one in written:
        if one.line:
            tell(f"in LaTeX: {one.line}")


@panel(LOOK)
def outcome(
    sweep: Annotated[
        str, typer.Argument(help="A sweep's name, its id (or the first digits), or a sweep file.", show_default=False)
    ],
    expression: Annotated[
        str, typer.Argument(help="SQL over one row of the experiment's table; curves are lists.", show_default=False)
    ],
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write its map too: .html, .png, .svg or .pdf.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="How many points of the grid are printed.")] = 40,
) -> None:
    """Tries an outcome on results that are there: what an expression gives, point by point, with 95 % intervals.

    An expression of true or false is counted, with Wilson's intervals of its shares; of a number the quantiles are
    printed, of a text how often each value comes. Nothing is kept: an expression that is of use goes under `outcomes`
    of the sweep file, where diagrams, `report`, `watch` and `extend` take it by its name.

    Example:

        swingby outcome my-first 'list_max(curve) > 2 * curve[1]' --out map.png
    """
    from swingby_analysis.report.trial import attempt, check_ending

    if out is not None:
        check_ending(out)
    tried = attempt(sweep, expression, data)
    for remark in tried.remarks:
        tell(f"warning: {remark}")
    say(f"{tried.sweep.name} ({tried.sweep.sweep_id}): {tried.text}")
    for line in tried.summary():
        say(f"  {line}")
    headings, points = tried.rows()
    if points and rows:
        table(headings, points[:rows])
    if len(points) > rows:
        more = len(points) - rows
        say(f"and {more:,} point{'' if more == 1 else 's'} more: --rows {len(points)}")
    if out is not None:
        tried.write(out)
        say(str(out))


@panel(PAPERS)
def figures(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT|FIGURE]...",
            help="Experiments, for all figures of each, or figures such as 2a or table-6-1.",
            show_default=False,
        ),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Folder for the page and for the folders with the reports.")] = Path("out"),
    quick: Annotated[bool, typer.Option("--quick", help="A few seeds of each figure; a full run reuses them.")] = False,
    overrides: Overrides = None,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Train what is missing first, or only draw.")] = True,
    local: Local = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Each figure as PNG, SVG and PDF, ready for a paper.")
    ] = True,
) -> None:
    """Redraws the figures of papers: trains their sweeps, writes each one's report, and a page with all.

    Every figure, and every table, is a sweep of its own over many seeds; for a single one, `swingby run figure-2a` and
    `swingby report figure-2a` do this too. A second call trains nothing. Without a name it lists what there is.

    Example:

        swingby figures 2a 5 --quick
    """
    from swingby_analysis.gallery import PREFIX, figure_names, known_figures, write_gallery
    from swingby_analysis.page.pictures import KINDS
    from swingby_analysis.statements.catalogue import notes
    from swingby_analysis.train import QUICK_SEEDS

    known = known_figures()
    if not names:
        figures_of = {
            experiment: [name for name, of in known.items() if of == experiment] for experiment in known.values()
        }
        table(
            ("experiment", "figures"),
            [(of, " ".join(n.removeprefix(PREFIX) for n in figures_of[of])) for of in figures_of],
        )
        say("All of an experiment: swingby figures EXPERIMENT. Single ones: swingby figures 2a 5")
        return
    chosen = figure_names(names)
    experiments = {known[name] for name in chosen}
    alone = len(experiments) == 1
    page = write_gallery(
        chosen,
        data,
        out,
        overrides=[*([f"seeds.count={QUICK_SEEDS}"] if quick else []), *(overrides or ())],
        run=(["--local"] if local else []) if run else None,
        kinds=KINDS if pictures else (),
        title=next(iter(notes(experiments, "title of figures") if alone else ()), "Figures"),
        lead=" ".join(notes(experiments, "lead of figures") if alone else ()),
        say=tell,
    )
    say(str(page))
