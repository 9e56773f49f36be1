"""Tests and intervals for many small samples at once: a row is a sample, and a value that is missing is NaN."""

from scalkit.stats.bootstrap import bootstrap_medians
from scalkit.stats.fence import fenced_medians, tukey_fence
from scalkit.stats.multiplicity import adjusted_p
from scalkit.stats.null import can_differ, least_rank_sum_p, least_signed_rank_p
from scalkit.stats.rank_sum import RankTest, rank_sum
from scalkit.stats.shift import Shift, hodges_lehmann, hodges_lehmann_ratio
from scalkit.stats.signed_rank import signed_rank

__all__ = [
    "RankTest",
    "Shift",
    "adjusted_p",
    "bootstrap_medians",
    "can_differ",
    "fenced_medians",
    "hodges_lehmann",
    "hodges_lehmann_ratio",
    "least_rank_sum_p",
    "least_signed_rank_p",
    "rank_sum",
    "signed_rank",
    "tukey_fence",
]
