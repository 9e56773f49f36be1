"""The words for times of a virtual clock, for modules that are imported without xarray."""

VIRTUAL = "in virtual time"
"""Words in the name of every virtual machine, by which a platform of the store is known as one."""
