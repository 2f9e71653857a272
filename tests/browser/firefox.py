"""A headless Firefox without a network, driven by Mozilla's own client."""

from __future__ import annotations

import contextlib
import gc
import html
import shutil
import socket
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

with warnings.catch_warnings():  # one of its parts asks for the name of the machine's distribution in an old way
    warnings.simplefilter("ignore", DeprecationWarning)
    from marionette_driver.marionette import Marionette

PLACES = ("/usr/lib/firefox-esr/firefox-esr", "/usr/bin/firefox-esr", "/usr/bin/firefox")
NOWHERE = {
    "network.proxy.type": 1,
    **{f"network.proxy.{scheme}": "127.0.0.1" for scheme in ("http", "ssl")},
    # The discard port, where nothing listens: each request of a page fails, and is seen among its resources.
    **{f"network.proxy.{scheme}_port": 9 for scheme in ("http", "ssl")},
}
COMPLAINTS = """
const [name] = arguments;
const errors = Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError).map(String);
const storage = Cc["@mozilla.org/consoleAPI-storage;1"].getService(Ci.nsIConsoleAPIStorage);
const calls = storage.getEvents().map((one) => `${one.level}: ${one.filename} ${one.arguments.map(String).join(" ")}`);
Services.console.reset();
storage.clearEvents();
return [...errors, ...calls].filter((text) => text.includes(name));
"""
PATIENCE = 60.0


def installed() -> str | None:
    """The path of Firefox on this machine; None if there is none."""
    return next((place for place in PLACES if Path(place).exists()), None) or shutil.which("firefox")


class Firefox:
    """One browser process; `frame` is the folder of the page that frames others.

    Raises:
        AssertionError: there is no Firefox.
    """

    def __init__(self, frame: Path) -> None:
        found = installed()
        assert found, "no Firefox at " + ", ".join(PLACES) + ": install it (apt-get install firefox-esr)"
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self._frame = frame / "frame.html"
        with _untidy():
            self._driver: Any = Marionette(
                bin=found,
                headless=True,
                port=port,
                app_args=["-remote-allow-system-access"],
                prefs=NOWHERE,
                gecko_log=str(frame / "firefox.log"),
                startup_timeout=PATIENCE,
            )
            self._driver.start_session()
        self._name = ""

    def open(self, path: Path, width: int, height: int) -> None:
        """Opens a file at a size of the viewport: framed, for a window of Firefox is never narrower than 500 pixels."""
        self._name = path.name
        self.complaints()
        address = html.escape(path.as_uri())
        style = "style='border: 0; position: absolute; left: 0; top: 0'"
        frame = f"<!doctype html><iframe id=page width={width} height={height} {style} src='{address}'></iframe>"
        self._frame.write_text(frame, encoding="utf-8")
        driver = self._driver
        driver.switch_to_frame()
        driver.set_window_rect(width=max(width, 500) + 40, height=height + 200)
        driver.navigate(self._frame.as_uri())
        driver.switch_to_frame(driver.find_element("id", "page"))

    def ask(self, script: str, *arguments: Any) -> Any:
        """What the body of a function gives in the page."""
        return self._driver.execute_script(script, script_args=arguments)

    def wait(self, condition: str) -> None:
        """Waits until an expression is true in the page.

        Raises:
            AssertionError: it is not within a minute; with what the page complained of.
        """
        end = time.monotonic() + PATIENCE
        while not self.ask(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"not so in {PATIENCE:.0f} s: {condition}; complaints: {self.complaints()}"
            time.sleep(0.05)

    def complaints(self) -> list[str]:
        """What the console holds of the opened file, and forgets by this."""
        with self._driver.using_context("chrome"):
            return self._driver.execute_script(COMPLAINTS, script_args=(self._name,))

    def picture(self, path: Path) -> None:
        """Saves what is seen as PNG."""
        self._driver.switch_to_frame()
        path.write_bytes(self._driver.screenshot(format="binary", full=False))

    def close(self) -> None:
        """Ends the process."""
        with _untidy():
            with contextlib.suppress(Exception):
                self._driver.quit(in_app=True)
            self._driver.cleanup()
            del self._driver


@contextlib.contextmanager
def _untidy() -> Iterator[None]:
    """Mozilla's client leaves sockets and files for the garbage collector, which would warn of them in a later test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()
