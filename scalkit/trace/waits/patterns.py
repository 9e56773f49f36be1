"""All wait patterns of a trace, in the order that needs least memory."""

from scalkit.trace.local.part import lacks_messages
from scalkit.trace.waits.collectives import waits_in_collectives
from scalkit.trace.waits.epochs import waits_for_grants, waits_in_epochs
from scalkit.trace.waits.locks import waits_for_locks
from scalkit.trace.waits.messages import waits_in_messages
from scalkit.trace.waits.progress_waits import Analysis, wait_for_progress


def add_waits(analysis: Analysis) -> None:
    """Add the waits of every pattern for which the trace has all calls that it needs."""
    left_out = analysis.trace.left_out
    if not any(left_out):
        _add_waits_in_windows(analysis)
    if not lacks_messages(left_out):
        waits_in_messages(analysis)
    waits_in_collectives(analysis)


def _add_waits_in_windows(analysis: Analysis) -> None:
    """Add the waits of one-sided communication."""
    held = waits_for_locks(analysis)
    if not analysis.trace.header.is_asynchronous:
        completing, progress = wait_for_progress(analysis)
        waits_for_grants(analysis, progress, completing, held)
    waits_in_epochs(analysis)
