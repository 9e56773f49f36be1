from __future__ import annotations

import pytest
from session_data import EXPECTATIONS, made

import scalkit as sk


@pytest.fixture
def data():
    return made()


@pytest.fixture
def session(data):
    return sk.Session(data, EXPECTATIONS, ["reduce <= bcast + gather"])
