"""The routes: sweeps, one sweep with its report, SQL, and files of rows. They read and change nothing."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from swingby.cli.rows import Format
from swingby.errors import SwingbyError
from swingby.store.status import SweepStatus
from swingby_analysis.serve import pages
from swingby_analysis.serve.board import Board
from swingby_analysis.serve.guard import Guard, Hosts, Token
from swingby_analysis.serve.pages import SqlRequest
from swingby_analysis.serve.queries import BusyError, Limits, Queries
from swingby_analysis.serve.reports import Reports, policy_of

ROWS = 1_000
"""The most rows of an answer where the visitor sets no limit."""
FILES = {
    Format.csv: "text/csv; charset=utf-8",
    Format.json: "application/json",
    Format.parquet: "application/vnd.apache.parquet",
}
Endpoint = Callable[[Request], Awaitable[Response]]


class Site:
    """The routes' handlers, and what they share: the board, the queries, the reports."""

    def __init__(self, data: Path, folder: Path, limits: Limits) -> None:
        self.limits = limits
        self.board = Board(data)
        self.queries = Queries(data, limits)
        self.reports = Reports(data, self.board, folder)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Keeps reports up to date while the server runs."""
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
        standing = await self.queries.in_thread(self.board.standing)
        return await self.queries.in_thread(lambda: pages.sweeps(standing))

    async def sweep(self, request: Request) -> Response:
        """The page of one sweep; the address with its name leads to the newest sweep of that name."""
        status = await self._status(request)
        if status.sweep_id != request.path_params["sweep"]:
            return RedirectResponse(f"/sweeps/{status.sweep_id}", 303)
        return pages.sweep(status, self.reports.open(status))

    async def report(self, request: Request) -> Response:
        """The report as it was last written."""
        status = await self._status(request)
        page = self.reports.written(status.sweep_id).page
        if page is None:
            raise HTTPException(404, "There is no report of this sweep yet.")
        try:
            content = await self.queries.in_thread(page.read_bytes)
        except FileNotFoundError:  # a newer one took its place just now
            return RedirectResponse(request.url.path, 303, {"Retry-After": "1"})
        policy = policy_of(content[:100_000].decode(errors="replace"))
        return Response(content, media_type="text/html", headers={"Content-Security-Policy": policy})

    async def sql(self, request: Request) -> Response:
        """The SQL page, with the answer to the query of the address."""
        known = await self.queries.in_thread(lambda: pages.Help(self.board.tables(), self.board.meanings()))
        standing = await self.queries.in_thread(self.board.standing)
        query, fault = self._query(request)
        if fault or not query.sql.strip():
            return pages.sql(query, self.limits, known, standing, fault=fault, status=400 if fault else 200)
        try:
            answer = await self.queries.ask(query.sql, query.limit)
        except BusyError as error:
            headers = {"Retry-After": str(error.after)}
            return pages.sql(query, self.limits, known, standing, fault=str(error), status=503, headers=headers)
        except SwingbyError as error:
            return pages.sql(query, self.limits, known, standing, fault=str(error), status=400)
        return await self.queries.in_thread(lambda: pages.sql(query, self.limits, known, standing, answer))

    def file(self, form: Format) -> Endpoint:
        """The handler that answers a query with a file of this format."""

        async def download(request: Request) -> Response:
            # The box of a report asks for JSON, and shows what is wrong by itself.
            plain = request.headers.get("accept") == FILES[Format.json]

            def refused(status: int, title: str, text: str, headers: Mapping[str, str] | None = None) -> Response:
                return (
                    JSONResponse({"error": text}, status, headers)
                    if plain
                    else pages.message(status, title, text, headers)
                )

            query, fault = self._query(request)
            if fault or not query.sql.strip():
                return refused(400, "No query", fault or "The address has no query: add ?q=select ...")
            try:
                answer = await self.queries.ask(query.sql, query.limit)
                content = await self.queries.encoded(answer, form)
            except BusyError as error:
                return refused(503, "Busy", str(error), {"Retry-After": str(error.after)})
            except SwingbyError as error:
                return refused(400, "The query gave no file", str(error))
            name = f"swingby-{hashlib.sha256(query.sql.encode()).hexdigest()[:8]}.{form.value}"
            headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Rows-Cut": str(answer.cut).lower()}
            return Response(content, media_type=FILES[form], headers=headers)

        return download

    async def static(self, request: Request) -> Response:
        """Style, script and icon; no other file can be reached."""
        asset = pages.static().get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404, "There is no such file.")
        kind, content = asset
        return Response(content, media_type=kind, headers={"Cache-Control": "public, max-age=86400"})

    # the request

    async def _status(self, request: Request) -> SweepStatus:
        standing = await self.queries.in_thread(self.board.standing)
        status = standing.find(request.path_params["sweep"])
        if status is None:
            raise HTTPException(404, "There is no such sweep in this data folder.")
        return status

    def _query(self, request: Request) -> tuple[SqlRequest, str | None]:
        """The query of an address, and what is wrong with it."""
        most, usual = self.limits, min(ROWS, self.limits.rows)
        sql, limit = request.query_params.get("q", ""), request.query_params.get("limit", "") or str(usual)
        if len(sql) > most.length:
            fault = f"The query has {len(sql):,} characters; allowed: {most.length:,}."
            return SqlRequest(sql[: most.length], usual), fault
        if not (limit.isascii() and limit.isdecimal() and len(limit) < 10 and 1 <= int(limit) <= most.rows):
            fault = f"The limit of rows is {limit[:20]!r}; allowed: a number from 1 to {most.rows:,}."
            return SqlRequest(sql, usual), fault
        return SqlRequest(sql, int(limit)), None


async def _failure(request: Request, error: Exception) -> Response:
    """The page for an error that a handler raised."""
    if isinstance(error, HTTPException):
        titles = {404: "There is no such page", 405: "These pages can only be read"}
        named = error.status_code == 404 and error.detail != "Not Found"
        text = error.detail if named else "No page has this address."
        return pages.message(error.status_code, titles.get(error.status_code, "This did not work"), text)
    if isinstance(error, SwingbyError):
        return pages.message(503, "The data folder cannot be read", str(error), {"Retry-After": "5"})
    return pages.message(500, "This is a fault of the server", "What the server prints says more.")


def application(data: Path, folder: Path, limits: Limits, hosts: Hosts, token: Token | None = None) -> Guard:
    """The site over one data folder behind its guard; reports go into `folder`.

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
    handlers = dict.fromkeys((HTTPException, SwingbyError, Exception), _failure)
    return Guard(Starlette(routes=routes, lifespan=site.lifespan, exception_handlers=handlers), hosts, token)
