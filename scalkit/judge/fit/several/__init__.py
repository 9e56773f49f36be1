"""Models over several parameters: sums of products of growths, and how they are written."""
