"""The clocks that times are read from, for modules that are imported without xarray."""

CLOCKS = ("real", "virtual", "simulated")
"""The clocks of runs in a store: that of a machine, a virtual one, or that of a simulator. Times of several are never mixed."""

VIRTUAL = "in virtual time"
"""Words in the name of every virtual machine."""

TIMES = {"real": "measured", "virtual": VIRTUAL, "simulated": "simulated"}
"""Words for times of each clock."""


def with_clock(name: str, clock: str) -> str:
    """Return the name of a platform or a curve, with what its times are where the name does not say it, or says otherwise.

    >>> with_clock("juwels", "simulated"), with_clock("juwels", "real"), with_clock("juwels, simulated", "real")
    ('juwels (simulated)', 'juwels', 'juwels, simulated (measured)')
    """
    said = {other for other in CLOCKS[1:] if TIMES[other] in name}
    return name if said == ({clock} - {"real"}) else f"{name} ({TIMES[clock]})"
