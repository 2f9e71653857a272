"""The routes: sweeps, one sweep with its report, SQL, and files of rows. All of them only read."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from swingby.cli.data import Format
from swingby.errors import SwingbyError
from swingby.store.status import SweepStatus
from swingby_analysis.serve import pages
from swingby_analysis.serve.board import Board
from swingby_analysis.serve.guard import Guard, Hosts, Token
from swingby_analysis.serve.pages import Asked
from swingby_analysis.serve.queries import BusyError, Limits, Queries
from swingby_analysis.serve.reports import Reports, policy_of

ROWS = 1_000
"""Rows of an answer where the visitor says nothing else."""
FILES = {
    Format.csv: "text/csv; charset=utf-8",
    Format.json: "application/json",
    Format.parquet: "application/vnd.apache.parquet",
}
Endpoint = Callable[[Request], Awaitable[Response]]


class Site:
    """What the routes share."""

    def __init__(self, data: Path, folder: Path, limits: Limits) -> None:
        self.limits = limits
        self.board = Board(data)
        self.queries = Queries(data, limits)
        self.reports = Reports(data, self.board, folder)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Reports are kept up to date while the server runs."""
        keeper = asyncio.create_task(self.reports.keep())
        try:
            yield
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper
            self.queries.close()
            self.board.close()

    # pages

    async def sweeps(self, request: Request) -> Response:
        """The list of sweeps."""
        seen = await self.queries.apart(self.board.seen)
        return await self.queries.apart(lambda: pages.sweeps(seen))

    async def sweep(self, request: Request) -> Response:
        """One sweep; by its name, that leads to the newest of that name."""
        standing = await self._found(request)
        if standing.sweep_id != request.path_params["sweep"]:
            return RedirectResponse(f"/sweeps/{standing.sweep_id}", 303)
        written = self.reports.look(standing)
        seen = await self.queries.apart(self.board.seen)
        tables = await self.queries.apart(self.board.tables)
        return pages.sweep(standing, written, seen.generation, tables)

    async def report(self, request: Request) -> Response:
        """The report as it was last written."""
        standing = await self._found(request)
        page = self.reports.written(standing.sweep_id).page
        if page is None:
            raise HTTPException(404, "There is no report of this sweep yet.")
        try:
            content = await self.queries.apart(page.read_bytes)
        except FileNotFoundError:  # a newer one took its place just now
            return RedirectResponse(request.url.path, 303, {"Retry-After": "1"})
        policy = policy_of(content[:100_000].decode(errors="replace"))
        return Response(content, media_type="text/html", headers={"Content-Security-Policy": policy})

    async def sql(self, request: Request) -> Response:
        """The SQL box, and the answer to what it was asked."""
        tables = await self.queries.apart(self.board.tables)
        seen = await self.queries.apart(self.board.seen)
        asked, fault = self._asked(request)
        if fault or not asked.sql.strip():
            return pages.sql(asked, self.limits, tables, seen, fault=fault, status=400 if fault else 200)
        try:
            answer = await self.queries.ask(asked.sql, asked.limit)
        except BusyError as error:
            headers = {"Retry-After": str(error.after)}
            return pages.sql(asked, self.limits, tables, seen, fault=str(error), status=503, headers=headers)
        except SwingbyError as error:
            return pages.sql(asked, self.limits, tables, seen, fault=str(error), status=400)
        return await self.queries.apart(lambda: pages.sql(asked, self.limits, tables, seen, answer))

    def file(self, form: Format) -> Endpoint:
        """The answer to a query as a file."""

        async def download(request: Request) -> Response:
            asked, fault = self._asked(request)
            if fault or not asked.sql.strip():
                return pages.message(400, "No query", fault or "The address has no query: add ?q=select ...")
            try:
                answer = await self.queries.ask(asked.sql, asked.limit)
                content = await self.queries.encoded(answer, form)
            except BusyError as error:
                return pages.message(503, "Busy", str(error), {"Retry-After": str(error.after)})
            except SwingbyError as error:
                return pages.message(400, "The query gave no file", str(error))
            name = f"swingby-{hashlib.sha256(asked.sql.encode()).hexdigest()[:8]}.{form.value}"
            headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Rows-Cut": str(answer.cut).lower()}
            return Response(content, media_type=FILES[form], headers=headers)

        return download

    async def static(self, request: Request) -> Response:
        """Style, script and icon: these and no other file."""
        found = pages.static().get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "There is no such file.")
        kind, content = found
        return Response(content, media_type=kind, headers={"Cache-Control": "public, max-age=86400"})

    # what they are asked for

    async def _found(self, request: Request) -> SweepStatus:
        seen = await self.queries.apart(self.board.seen)
        standing = seen.find(request.path_params["sweep"])
        if standing is None:
            raise HTTPException(404, "There is no such sweep in this data folder.")
        return standing

    def _asked(self, request: Request) -> tuple[Asked, str | None]:
        """The query of an address, and what is wrong with it."""
        most, usual = self.limits, min(ROWS, self.limits.rows)
        sql, limit = request.query_params.get("q", ""), request.query_params.get("limit", "") or str(usual)
        if len(sql) > most.length:
            told = f"The query has {len(sql):,} characters; allowed: {most.length:,}."
            return Asked(sql[: most.length], usual), told
        if not (limit.isascii() and limit.isdecimal() and len(limit) < 10 and 1 <= int(limit) <= most.rows):
            return Asked(sql, usual), f"The limit of rows is {limit[:20]!r}; allowed: a number from 1 to {most.rows:,}."
        return Asked(sql, int(limit)), None


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    titles = {404: "Nothing is here", 405: "This page only shows"}
    text = error.detail if error.status_code == 404 and error.detail != "Not Found" else "No page has this address."
    return pages.message(error.status_code, titles.get(error.status_code, "This did not work"), text)


async def _fault(request: Request, error: Exception) -> Response:
    return pages.message(503, "The data folder cannot be read", str(error), {"Retry-After": "5"})


async def _crash(request: Request, error: Exception) -> Response:
    return pages.message(500, "This is a fault of the server", "Its own log says more.")


def application(data: Path, folder: Path, limits: Limits, hosts: Hosts, token: Token | None = None) -> Guard:
    """The whole site over one data folder, guarded; reports go into `folder`.

    Raises:
        SwingbyError: there is no data folder.
    """
    site = Site(data, folder, limits)
    routes = [
        Route("/", site.sweeps),
        Route("/sweeps/{sweep}", site.sweep),
        Route("/reports/{sweep}", site.report),
        Route("/sql", site.sql),
        *(Route(f"/sql.{form.value}", site.file(form)) for form in FILES),
        Route("/static/{name}", site.static),
    ]
    handlers = {HTTPException: _http, SwingbyError: _fault, Exception: _crash}
    return Guard(Starlette(routes=routes, lifespan=site.lifespan, exception_handlers=handlers), hosts, token)
