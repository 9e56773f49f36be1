"""The processes of the MPI program that this process belongs to, or the reason why it cannot join them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from scalkit.errors import LaunchError
from scalkit.support.extras import install_command

if TYPE_CHECKING:
    from mpi4py import MPI


def mpi_world(n_ranks: int | None) -> MPI.Intracomm:
    """Return the communicator of all ranks; loads MPI.

    `n_ranks`: how many ranks the launcher says that it started; None if it says nothing.
    Raises LaunchError if mpi4py is missing, cannot be loaded, or belongs to another MPI library than the launcher.
    """
    started = f"{n_ranks or 'several'} ranks were started"
    try:
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of another launcher, which is said below
            from mpi4py import MPI
    except ModuleNotFoundError as error:
        raise LaunchError(
            f"{started}, and to share the work they need mpi4py; install it on all nodes ({install_command('mpi4py')}), or "
            "start scalkit without a launcher."
        ) from error
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise LaunchError(
            f"{started}, but mpi4py cannot load an MPI library ({reason}); name it, as in MPI4PY_LIBMPI=/path/to/libmpi.so."
        ) from error
    if n_ranks is not None and n_ranks != MPI.COMM_WORLD.Get_size():
        name = MPI.Get_library_version().partition("\n")[0].partition(",")[0].replace("Version:", "").strip("\0")
        raise LaunchError(
            f"{started}, but {' '.join(name.split())}, which mpi4py loads, knows of {MPI.COMM_WORLD.Get_size()}; name the "
            "library of the launcher, as in MPI4PY_LIBMPI=/path/to/libmpi.so, or start with the launcher of this one."
        )
    return MPI.COMM_WORLD
