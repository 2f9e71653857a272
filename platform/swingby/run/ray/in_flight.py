"""The trials of one run that are out: their configurations, and what becomes of those that come back or die."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swingby.errors import SwingbyError
from swingby.run.drain import Drain
from swingby.run.ray.trainable import LOST
from swingby.run.resources import bundle
from swingby.run.retries import Quarantine
from swingby.run.scheduler import Dealer, Trial
from swingby.run.worker.batch import BatchDone

if TYPE_CHECKING:
    from swingby.data.records import Records
    from swingby.run.planned import Planned
    from swingby.run.progress import Progress

NOTE_SECONDS = 5.0
"""How long a dead worker's warden may take to say what it died of."""


class Dealt:
    """The trials of one run, from their dealing to their end.

    Args:
        flag: the file that says, once it is there, that no batch should begin any more.
    """

    def __init__(
        self,
        planned: Sequence[Planned],
        records: Records,
        flag: Path,
        progress: Progress,
        drain: Drain,
    ) -> None:
        self.planned, self.progress, self.drain = planned, progress, drain
        self.fault: str | None = None
        self.deaths = 0
        self.dealer = Dealer(planned, max(one.workers for one in planned))
        self.quarantine = Quarantine(self.dealer, records, progress)
        self._notes = records.data / "work"
        self._fixed = {"data": str(records.where), "flag": str(flag)}
        self._dealt: dict[tuple[str, int, int], Trial] = {}

    def config(self) -> dict[str, Any] | None:
        """The configuration of the next trial; None if there is no more."""
        trial = self.dealer.next()
        if trial is None:
            return None
        self._dealt[trial.key] = trial
        plan_id = trial.planned.plan.plan_id
        asked = {"bundle": bundle(trial.planned.each[trial.notes[0].shape]), "processes": trial.planned.processes}
        own = {"plan_id": plan_id, "batches": trial.batches, "part": trial.part, "device": trial.device}
        watched = {"attempt": trial.attempt, "deadline": self.dealer.deadline(trial), "note": str(self._note(trial))}
        return {**self._fixed, **own, **asked, **watched, "key": trial.key}

    def _note(self, trial: Trial) -> Path:
        """Where it will stand how the process of a trial died."""
        return self._notes / f"{trial.planned.plan.plan_id}.b{trial.batches[0]}-{trial.attempt}.died"

    def out(self) -> bool:
        """Whether trials are out whose cells may have to be dealt again."""
        return not self.stopping() and bool(self._dealt)

    def stopping(self) -> bool:
        """Whether no batch should begin any more."""
        return self.drain() or self.fault is not None

    def reported(self, result: Mapping[str, Any]) -> None:
        """A batch came back."""
        trial = self._dealt.pop(_key(result), None)
        if result.get("fault"):
            self._end(result["fault"])
            return
        done = BatchDone(**result["batch_done"])
        try:
            self.quarantine.lives()
        except SwingbyError as error:
            self._end(str(error))
        if trial is not None and done.cells == trial.cells:
            self.dealer.took(trial, done.seconds)
        self.progress.batch_done(done)

    def died(self, tuned: Any) -> None:
        """The process of a batch died."""
        self.deaths += 1
        trial = self._dealt.pop(_key(tuned.config), None)
        if trial is None:
            return
        try:
            self.quarantine.died(trial, self._why(trial, tuned))
        except SwingbyError as error:
            self._end(str(error))

    def _end(self, fault: str) -> None:
        """Something that no second try would mend."""
        self.fault = self.fault or fault
        self.drain.ask()

    def _why(self, trial: Trial, tuned: Any) -> str:
        """What the process of a trial died of: its warden says so a moment later, if they were on one machine."""
        note, deadline = self._note(trial), time.monotonic() + NOTE_SECONDS
        said = _said(tuned)
        while not said.startswith(LOST) and not note.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        try:
            return note.read_text()
        except OSError:
            return said.removeprefix(LOST)
        finally:
            note.unlink(missing_ok=True)


def _key(of: Mapping[str, Any]) -> tuple[str, int, int]:
    """What tells a trial from the others, as it comes back from Tune."""
    plan_id, batch, low = of["key"]
    return plan_id, batch, low


def _said(tuned: Any) -> str:
    """What Ray says of a trial that failed: the last line that is not blank, where it puts the reason."""
    file = Path(tuned.error_file or "")  # `get_error` would read a copy of it that is made later
    text = file.read_text() if file.is_file() else ""
    if "OutOfMemoryError" in text:
        return "out of memory: Ray ended it, since the machine had hardly any left"
    if "worker process has died" in text:
        return "it died, and nobody was left on its machine to tell of what"
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it did not say why")
