"""Wait for Progress as the paper replays it: a message for each request, while the processes walk through their events.

It is an oracle for the bulk exchange of the package, which must find the same. Every process keeps a slot for one request of
every other one, and a flag for each slot of its own elsewhere that says whether it is free. The progress callback, run at every
event, answers what came and sends what could not be sent before. At the end a barrier that does not block waits for all.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from scalkit.support.arrays import Ints
from scalkit.trace.local.arrays import find_frame
from scalkit.trace.local.part import load
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.options import Options
from scalkit.trace.results.sums import Found, Waits
from scalkit.trace.waits.progress_waits import Analysis, wait_for_one, wait_for_several
from scalkit.trace.waits.requests import FirstProgress, Progress, Requests, find_progress, find_requests
from scalkit.trace.waits.surroundings import Surroundings

if TYPE_CHECKING:
    from mpi4py import MPI

_WIDTH = 8  # of a request: is it there, is it direct, target, since, enter, leave, origin, path
_ANSWER = 4  # does progress exist, its start, its end, region before it


def waits_for_progress_per_event(folder: str, comm: MPI.Intracomm) -> Found:
    """Return the waits for progress of a trace, without their bounds, on each of the processes that share it."""
    ranks, options = Ranks(comm), Options()
    trace = load(folder, ranks)
    frame = find_frame(trace, ranks)
    waits = Waits(trace.header.locations, len(trace.definitions.paths))
    analysis = Analysis(trace, ranks, options, frame, Surroundings(frame, trace), waits)
    replay = _Replay(analysis, find_requests(trace, options), find_progress(trace, frame, options), comm)
    replay.run()
    replay.free()
    return waits.collect(ranks)


class _Windows:
    """The memory that other processes write to: slots for their requests, flags, and answers."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        from mpi4py import MPI

        self.comm, self.size, self.rank = comm, comm.Get_size(), comm.Get_rank()
        self._mpi = MPI
        self.windows = [MPI.Win.Allocate(8 * self.size * width, 8, comm=comm) for width in (_WIDTH, 1, _ANSWER)]
        self.slots, self.is_free, self.answers = (
            np.frombuffer(cast(Any, window.tomemory()), dtype=np.int64).reshape(self.size, -1) for window in self.windows
        )
        self.slots[:], self.is_free[:], self.answers[:] = 0, 1, 0
        comm.Barrier()
        for window in self.windows:
            window.Lock_all()

    def put(self, which: int, to: int, row: Ints) -> None:
        """Write a row to the place of this process in another one."""
        self.windows[which].Put(row, to, self.rank * row.size)
        self.windows[which].Flush(to)

    def set_word(self, which: int, to: int, place: int, value: int) -> None:
        """Write one word to another process, at once."""
        self.windows[which].Accumulate(np.array([value], dtype=np.int64), to, place, op=self._mpi.REPLACE)
        self.windows[which].Flush(to)

    def refresh(self) -> None:
        """Let messages come in, and make what was written visible."""
        self.comm.Iprobe()
        for window in self.windows:
            window.Sync()

    def free(self) -> None:
        """Give the memory back; all processes must come here."""
        for window in self.windows:
            window.Unlock_all()
        del self.slots, self.is_free, self.answers
        for window in self.windows:
            window.Free()


class _Replay:
    """The walk of one process through its events."""

    def __init__(self, analysis: Analysis, requests: Requests, progress: Progress, comm: MPI.Intracomm) -> None:
        self._analysis, self._requests, self._progress = analysis, requests, progress
        self._windows = _Windows(comm)
        self._waiting: list[deque[int]] = [deque() for _ in range(self._windows.size)]
        self._sent: dict[int, int] = {}
        self._found: dict[int, dict[int, Ints]] = {}
        self._owner = analysis.trace.owner(requests.target, self._windows.size)

    def run(self) -> None:
        """Walk through all calls, then wait until all processes have done so."""
        row = 0
        for call in range(len(self._analysis.trace.calls["enter"])):
            while row < len(self._requests.call) and self._requests.call[row] == call:
                self._waiting[int(self._owner[row])].append(row)
                row += 1
            self.progress()
        while self._sent or any(self._waiting):
            self.progress()
        barrier = self._windows.comm.Ibarrier()
        while not barrier.Test():
            self.progress()

    def free(self) -> None:
        """Give the windows back."""
        self._windows.free()

    def progress(self) -> None:
        """Answer what came, take what was answered, send what may be sent."""
        windows = self._windows
        windows.refresh()
        # others write here meanwhile, so copies are looked at
        for other in np.flatnonzero(windows.slots[:, 0].copy()).tolist():
            self._serve(other)
        for other in np.flatnonzero(windows.is_free[:, 0].copy()).tolist():
            if other in self._sent:
                self._take(self._sent.pop(other), windows.answers[other].copy())
            if self._waiting[other]:
                self._send(other, self._waiting[other].popleft())

    def _send(self, other: int, row: int) -> None:
        calls, requests = self._analysis.trace.calls, self._requests
        call = int(requests.call[row])
        words = [0, int(not requests.is_single[row]), requests.target[row], requests.since[row]]
        words += [calls[name][call] for name in ("enter", "leave", "location", "path")]
        self._windows.is_free[other, 0] = 0
        self._sent[other] = row
        self._windows.put(0, other, np.array(words, dtype=np.int64))
        self._windows.set_word(0, other, self._windows.rank * _WIDTH, 1)

    def _serve(self, other: int) -> None:
        """Compute the wait here, if the call has no other target, or answer; then the slot is free."""
        windows, analysis = self._windows, self._analysis
        _, is_direct, target, since, enter, leave, origin, path = windows.slots[other].reshape(8, 1).copy()
        windows.slots[other, 0] = 0
        first = self._progress.first(target, since)
        before = analysis.surroundings.before(target, np.where(first.exists, first.start, leave))
        if is_direct[0]:
            answer = np.concatenate([first.exists, first.start, first.end, before]).astype(np.int64)
            windows.put(2, other, answer)
        else:
            wait, unseen = wait_for_one(enter, leave, first)
            self._add(path, origin, wait, unseen)
            if unseen[0]:
                before = analysis.surroundings.before(target, leave)
            analysis.waits.blame("wait_for_progress", origin, target, before, wait, enter + wait)
        windows.set_word(1, other, windows.rank, 1)

    def _take(self, row: int, answer: Ints) -> None:
        """Keep an answer; compute the wait of a call when all its targets have answered."""
        requests = self._requests
        if requests.is_single[row]:
            return
        call = int(requests.call[row])
        answers = self._found.setdefault(call, {})
        answers[row] = answer
        first, last = (int(np.searchsorted(requests.call, call, side=side)) for side in ("left", "right"))
        if len(answers) < last - first:
            return
        table = np.stack([answers[one] for one in range(first, last)])
        del self._found[call]
        calls: Any = self._analysis.trace.calls
        enter, leave, origin, path = (calls[name][call : call + 1] for name in ("enter", "leave", "location", "path"))
        group = np.zeros(len(table), dtype=np.int64)
        progress = FirstProgress(table[:, 0] != 0, table[:, 1], table[:, 2])
        result = wait_for_several(group, enter, leave, progress)
        self._add(path, origin, result.wait, result.unseen)
        where = np.full(len(table), origin[0])
        self._analysis.waits.blame(
            "wait_for_progress", where, requests.target[first:last], table[:, 3], result.share, table[:, 1]
        )

    def _add(self, path: Ints, origin: Ints, wait: Ints, unseen: Any) -> None:
        self._analysis.waits.add("wait_for_progress", path, origin, wait)
        self._analysis.waits.add("without_progress", path, origin, unseen.astype(np.int64))
