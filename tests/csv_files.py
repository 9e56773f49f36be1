"""Measurements of guidelines as the CSV files that users write."""

import csv

import numpy as np
import pandas as pd

from scalkit.formats.remarks import remarks_of
from scalkit.guidelines.experiments import Measured


def csv_text(data: Measured) -> str:
    """Return measurements as a CSV file that `read_csv` reads: a row for each repetition."""
    experiments, runs = np.nonzero(data.rows >= 0)
    frame = pd.DataFrame(
        {
            name: pd.Series([data.level(name, code) for code in column.tolist()], dtype=object)
            for name, column in zip(data.parameters, data.codes[experiments].T, strict=True)
        }
    )
    frame["run"] = [data.runs[run] for run in runs]
    frame["oversubscribed"] = data.crowded[experiments]
    values = data.values[data.rows[experiments, runs]]
    frame["time"] = [[f"{x:.9g}" for x in row[np.isfinite(row)].tolist()] for row in values]
    frame = frame.explode("time").astype({"time": float})
    remarks = remarks_of(data.machine, simulated=any("simulated" in caveat for caveat in data.caveats))
    unit = f"# unit: {data.unit}\n" if data.unit else ""
    body: str = frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    return remarks + unit + body
