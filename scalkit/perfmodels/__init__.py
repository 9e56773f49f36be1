"""Performance models of communication: from asymptotic to exact, composed, fitted, and exchanged with simulators."""

from scalkit.perfmodels.collectives.algorithms import OPERATIONS, Algorithm, algorithms_of
from scalkit.perfmodels.collectives.cells import Cells, cells_of
from scalkit.perfmodels.collectives.congestion import Dragonfly, FatTree, Torus, alltoall_on
from scalkit.perfmodels.collectives.folklore import Folklore, folklore
from scalkit.perfmodels.collectives.identify import Cell, Identified, identify
from scalkit.perfmodels.collectives.identify_played import Plays, identify_played, plays_of
from scalkit.perfmodels.collectives.inside import InsideBounds, congested, inside_bounds
from scalkit.perfmodels.collectives.model import CollectiveModel, collective, collectives_of
from scalkit.perfmodels.collectives.rooted import Placement, RootedTimes, over_roots
from scalkit.perfmodels.collectives.same_messages import same_messages
from scalkit.perfmodels.collectives.size_and_processes import XuFit, fit_xu
from scalkit.perfmodels.collectives.variants import in_groups, with_datatype
from scalkit.perfmodels.files.card import ModelCard, Quantity, read_card
from scalkit.perfmodels.files.catalogue import ModelCatalogue, bluegene_p, read_models
from scalkit.perfmodels.files.loggopsim import from_loggopsim, to_loggopsim
from scalkit.perfmodels.files.simgrid import from_simgrid, to_simgrid
from scalkit.perfmodels.fits.bisection import BisectionFit, fit_bisection
from scalkit.perfmodels.fits.card import fit_card, fit_folder
from scalkit.perfmodels.fits.loggp import LogGPFit, Rendezvous, find_rendezvous, fit_loggp
from scalkit.perfmodels.fits.messages import MessageFit, fit_messages
from scalkit.perfmodels.fits.overlap import OverlapFit, fit_overlap
from scalkit.perfmodels.fits.packing import PackingFit, fit_packing
from scalkit.perfmodels.fits.runs import MessageRuns, read_message_runs
from scalkit.perfmodels.fits.steps import StepFit, fit_hops, fit_matching, fit_reducing, hops_of
from scalkit.perfmodels.fits.strides import StrideFit, fit_strides
from scalkit.perfmodels.formulas.ranges import Range
from scalkit.perfmodels.models.composed import Composite, Product, Substituted
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.perfmodels.models.hierarchy import AsymptoticModel, BoundedModel, DominantTermModel
from scalkit.perfmodels.models.model import Bounds, PerformanceModel
from scalkit.perfmodels.models.point_to_point import LogGP, PointToPoint, Protocol
from scalkit.perfmodels.models.range_model import RangeModel

__all__ = [
    "OPERATIONS",
    "Algorithm",
    "AsymptoticModel",
    "BisectionFit",
    "BoundedModel",
    "Bounds",
    "Cell",
    "Cells",
    "CollectiveModel",
    "Composite",
    "DominantTermModel",
    "Dragonfly",
    "ExactModel",
    "FatTree",
    "Folklore",
    "Identified",
    "InsideBounds",
    "LogGP",
    "LogGPFit",
    "MessageFit",
    "MessageRuns",
    "ModelCard",
    "ModelCatalogue",
    "OverlapFit",
    "PackingFit",
    "PerformanceModel",
    "Placement",
    "Plays",
    "PointToPoint",
    "Product",
    "Protocol",
    "Quantity",
    "Range",
    "RangeModel",
    "Rendezvous",
    "RootedTimes",
    "StepFit",
    "StrideFit",
    "Substituted",
    "Torus",
    "XuFit",
    "algorithms_of",
    "alltoall_on",
    "bluegene_p",
    "cells_of",
    "collective",
    "collectives_of",
    "congested",
    "find_rendezvous",
    "fit_bisection",
    "fit_card",
    "fit_folder",
    "fit_hops",
    "fit_loggp",
    "fit_matching",
    "fit_messages",
    "fit_overlap",
    "fit_packing",
    "fit_reducing",
    "fit_strides",
    "fit_xu",
    "folklore",
    "from_loggopsim",
    "from_simgrid",
    "hops_of",
    "identify",
    "identify_played",
    "in_groups",
    "inside_bounds",
    "over_roots",
    "plays_of",
    "read_card",
    "read_message_runs",
    "read_models",
    "same_messages",
    "to_loggopsim",
    "to_simgrid",
    "with_datatype",
]
