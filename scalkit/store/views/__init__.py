"""What a store shows: chosen measurements, curves, comparisons, and what the explorer holds."""
