"""Drawings that are a query and its marks: charts with their words, the rows of one query, and panels of lines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import polars as pl

from swingby.model import drawing
from swingby_analysis.charts.lines import Line, LinesLook, line_panels
from swingby_analysis.page import Figure
from swingby_analysis.query import Parameter, Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.subject import Subject


class Drawn(NamedTuple):
    """A chart with its caption.

    Attributes:
        title, reading: of the figure; "": those of the drawing.
        slug: of the figure; "": the drawing's name.
        queries: those that it draws the rows of, of a `QueryDrawing` beside its own.
        facts: where it comes from; empty: from the sweep.
    """

    chart: Any
    caption: str
    title: str = ""
    reading: str = ""
    slug: str = ""
    queries: Sequence[Query] = ()
    facts: Mapping[str, str] = {}


class ChartDrawing(drawing.Drawing):
    """A drawing that is its charts and their words.

    Attributes:
        title, reading: of its figures.
        subject: the class of subjects that it takes.
    """

    title: ClassVar[str]
    reading: ClassVar[str]
    subject: ClassVar[type[Subject]] = Subject

    def figures(self, subject: Subject, options: Any) -> Sequence[Figure]:
        """The figures of `charts`."""
        view, figures = subject.seen_as(self.subject), list[Figure]()
        for drawn in self.charts(view, options):
            slug, words = drawn.slug or self.name.replace("_", "-"), (drawn.title or self.title, drawn.caption)
            figure = view.figure(slug, *words, drawn.reading or self.reading, drawn.chart.to_dict(), drawn.queries)
            figures.append(replace(figure, facts=drawn.facts) if drawn.facts else figure)
        return figures

    @abstractmethod
    def charts(self, subject: Any, options: Any) -> Iterable[Drawn]:
        """The charts of one sweep, of which there is one at least.

        Raises:
            SwingbyError: this sweep cannot be drawn so; says why.
        """


class QueryDrawing(ChartDrawing):
    """A drawing of the rows of one query, a file in the folder of its module.

    Attributes:
        empty: why a sweep cannot be drawn of which the query has no row.
        sql: name of the query; "": that of the drawing.
    """

    empty: ClassVar[str]
    sql: ClassVar[str] = ""

    def charts(self, subject: Any, options: Any) -> Iterable[Drawn]:
        """Those of `draw`, with the query before its own.

        Raises:
            SwingbyError: the query has no row, or `draw` refuses the sweep.
        """
        folder = type(self).__module__.rpartition(".")[0]
        query = Query(self.sql or self.name, self.parameters(subject, options), folder)
        rows = self.kept(subject.ask(query))
        if rows.is_empty():
            raise subject.cannot(self.name, self.empty)
        return (one._replace(queries=[query, *one.queries]) for one in self.draw(rows, subject, options))

    def parameters(self, subject: Any, options: Any) -> tuple[Parameter, ...]:
        """Those of the query; by default the id of the sweep."""
        return (subject.sweep_id,)

    def kept(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of the query that are drawn; by default all."""
        return rows

    @abstractmethod
    def draw(self, rows: pl.DataFrame, subject: Any, options: Any) -> Iterable[Drawn]:
        """The charts of rows, of which there is one at least; see `charts`."""


class LinesDrawing(QueryDrawing):
    """A drawing of lines over a logarithmic axis (`charts.lines`).

    Attributes:
        caption: {points} stands for the number of points of the grid.
        axes: titles of x and y.
        series: in the order of the legend.
        y: how y is spaced.
        by: columns that say which rows are one line, or a line and its laws.
    """

    caption: ClassVar[str]
    axes: ClassVar[tuple[str, str]]
    series: ClassVar[Sequence[str]]
    y: ClassVar[Literal["share", "log", "linear"]]
    look: ClassVar[LinesLook]
    by: ClassVar[Sequence[str]] = ("point",)

    def draw(self, rows: pl.DataFrame, subject: Subject, options: Any) -> Iterable[Drawn]:
        """One chart."""
        lines = [line for group in rows.partition_by(*self.by) for line in self.lines(group, rows, subject)]
        caption = self.caption.format(points=plural(rows["point"].n_unique(), "point"))
        yield Drawn(line_panels(lines, self.series_of(lines), self.axes_of(rows), self.y, self.look), caption)

    def series_of(self, lines: Sequence[Line]) -> Sequence[str]:
        """The series of the legend; by default the same for all sweeps."""
        return self.series

    def axes_of(self, rows: pl.DataFrame) -> tuple[str, str]:
        """The titles of the axes; by default the same for all sweeps."""
        return self.axes

    @abstractmethod
    def lines(self, group: pl.DataFrame, rows: pl.DataFrame, subject: Subject) -> Sequence[Line]:
        """The lines of some of the rows, which have the same `by`."""
