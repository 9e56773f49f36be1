"""Which algorithms send the same messages in the same order, so that no time can tell them apart."""

from scalkit.errors import UsageError
from scalkit.perfmodels.collectives.algorithms import algorithm, alike_between_two
from scalkit.perfmodels.formulas.quantities import values_in

_CHAINS = frozenset({"chain", "pipeline"})
"""The same where the data is one segment."""


def same_messages(
    operation: str, first: str, other: str, P: float | str, S: float | str = 0.0, segment_bytes: float = 8192.0
) -> bool:
    """Return whether two algorithms send the same messages, between the same processes and in the same order.

    Parameters
    ----------
    operation, first, other : str
        See `scalkit.perfmodels.collectives.algorithms`.
    P : float
        Processes.
    S : float, in B, or str
        A text names its unit: ``"4 KiB"``.
    segment_bytes : float
        Size of the segments of a pipeline.

    Raises
    ------
    UsageError
        If operation or algorithm are unknown, P or S are no numbers, or there is no process.

    Examples
    --------
    >>> same_messages("broadcast", "chain", "pipeline", P=16, S=4096)
    True
    >>> same_messages("broadcast", "chain", "pipeline", P=16, S=65536)
    False
    """
    processes, size = float(values_in(P, "P")), float(values_in(S, "S"))
    if not processes >= 1:
        raise UsageError(f"P = {processes:g}; there must be a process.")
    found = algorithm(operation, first)
    names = {first, algorithm(operation, other).name}
    if first == other or processes == 1:
        return True
    if size <= segment_bytes:
        if names == _CHAINS:
            return True
        names = {"chain" if name == "pipeline" else name for name in names}
    return processes == 2 and any(names <= set(group) for group in alike_between_two(found.operation))
