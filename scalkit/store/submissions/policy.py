"""The limits of a submission."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Limits of a validation; sizes in bytes, times in s.

    `max_files`, `max_file_bytes`, `max_total_bytes`, `max_ratio`: of a zip or folder: number of files, size of each and of all,
    and how many times larger a file of a zip may be unpacked.
    `max_values`, `max_rows`, `max_row_groups`, `max_columns`: of a Parquet file; values of one column, repetitions included.
    `max_json_bytes`, `max_json_depth`, `max_text`: of a run's record. `max_retractions`: of a store; so many signatures, too.
    `memory_bytes`, `cpu_s`, `file_cpu_s`, `wall_s`: of the processes that read: memory and computing of one, computing for one
    file, and time of all together.
    `link_bytes_per_s`: what no link of a machine carries; twice the link that a record declares, in
    ``machine_desc.link_By_per_s``, counts too.
    """

    max_files: int = 10_000
    max_file_bytes: int = 256 << 20
    max_total_bytes: int = 8 << 30
    max_ratio: float = 200.0
    max_values: int = 50_000_000
    max_rows: int = 1_000_000
    max_row_groups: int = 1_000
    max_columns: int = 64
    max_json_bytes: int = 4 << 20
    max_json_depth: int = 16
    max_text: int = 4096
    max_retractions: int = 10_000
    memory_bytes: int = 4 << 30
    cpu_s: int = 600
    file_cpu_s: int = 120
    wall_s: float = 900.0
    link_bytes_per_s: float = 1e12
