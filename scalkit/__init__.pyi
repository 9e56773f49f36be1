from scalkit import bench as bench
from scalkit import errors as errors
from scalkit import guidelines as guidelines
from scalkit import perfmodels as perfmodels
from scalkit import plots as plots
from scalkit import store as store
from scalkit import trace as trace
from scalkit import widgets as widgets
from scalkit.formats.read import read as read
from scalkit.front import validate as validate
from scalkit.growth import Growth as Growth
from scalkit.judge.baseline import Baseline as Baseline
from scalkit.judge.expectation import Expectation as Expectation
from scalkit.judge.pieces import piecewise as piecewise
from scalkit.judge.space import SearchSpace as SearchSpace
from scalkit.measure import measurements as measurements
from scalkit.plots.plot import plot as plot
from scalkit.quick_check import check as check
from scalkit.regions import region as region
from scalkit.reports import report as report
from scalkit.session import Session as Session
from scalkit.widgets import Ruler as Ruler
from scalkit.widgets.explorer.explorer import explore as explore

__version__: str
