from scalkit.measure.combined import combine as combine
from scalkit.measure.netcdf import write_netcdf as write_netcdf
from scalkit.measure.points import measurements as measurements
from scalkit.measure.processes import process_times as process_times
from scalkit.measure.reduce import Series as Series
from scalkit.measure.reduce import series as series
from scalkit.measure.several import SeveralSeries as SeveralSeries
from scalkit.measure.several import several_series as several_series
