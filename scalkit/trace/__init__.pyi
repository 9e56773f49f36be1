from scalkit.trace.analysis import analyse as analyse
from scalkit.trace.files.builder import TraceBuilder as TraceBuilder
from scalkit.trace.options import Options as Options
from scalkit.trace.results.dataset import read_result as read_result
from scalkit.trace.results.dataset import write_result as write_result
from scalkit.trace.results.over_processes import over_processes as over_processes
