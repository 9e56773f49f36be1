"""What is said of the values of a function and metric has their names."""

from __future__ import annotations

from scalkit.measure.values import Values

__all__ = ["OfValues"]


class OfValues:
    """Names of the function, the metric and its unit, from the `series` that a verdict is about."""

    series: Values

    @property
    def function(self) -> str:
        """Name of the function."""
        return self.series.function

    @property
    def metric(self) -> str:
        """Name of the metric, for example ``time``."""
        return self.series.metric

    @property
    def unit(self) -> str:
        """Unit of the metric without prefix."""
        return self.series.unit
