"""Marks for tests that need a program of the system, with one reason for each: the reasons are listed after the tests."""

from __future__ import annotations

import shutil

import pytest


def _needs(program: str, reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=reason)


needs_simgrid = _needs("smpicc", "needs SimGrid's smpicc (make system-deps)")
needs_gfortran = _needs("gfortran", "needs gfortran (make system-deps)")
needs_otf2 = _needs("otf2-print", "needs OTF2 (make system-deps)")
needs_ssh_keygen = _needs("ssh-keygen", "needs ssh-keygen (make system-deps)")
needs_cpp = _needs("c++", "needs a C++ compiler")
