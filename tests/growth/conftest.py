"""Growth classes that tests register are forgotten after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scalkit.growth import forget_growth, registered_growths


@pytest.fixture
def own_classes() -> Iterator[None]:
    yield
    for kind in registered_growths():
        forget_growth(kind.name)
