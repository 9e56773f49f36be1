"""Performance models of communication: from asymptotic to exact, composed, fitted, and exchanged with simulators."""

from scalkit.perfmodels.algorithms import OPERATIONS, Algorithm, algorithms_of
from scalkit.perfmodels.bisection_fit import BisectionFit, fit_bisection
from scalkit.perfmodels.card import ModelCard, Quantity, read_card
from scalkit.perfmodels.card_fit import fit_card, fit_folder
from scalkit.perfmodels.catalogue import ModelCatalogue, bluegene_p, read_models
from scalkit.perfmodels.cells import Cells, cells_of
from scalkit.perfmodels.collectives import CollectiveModel, collective, collectives_of
from scalkit.perfmodels.composed import Composite, Product, Substituted
from scalkit.perfmodels.congestion import Dragonfly, FatTree, Torus, alltoall_on
from scalkit.perfmodels.exact import ExactModel
from scalkit.perfmodels.folklore import Folklore, folklore
from scalkit.perfmodels.hierarchy import AsymptoticModel, BoundedModel, DominantTermModel
from scalkit.perfmodels.identify import Cell, Identified, identify
from scalkit.perfmodels.identify_played import Plays, identify_played, plays_of
from scalkit.perfmodels.inside import InsideBounds, congested, inside_bounds
from scalkit.perfmodels.loggp_fit import LogGPFit, Rendezvous, find_rendezvous, fit_loggp
from scalkit.perfmodels.message_fit import MessageFit, fit_messages
from scalkit.perfmodels.message_runs import MessageRuns, read_message_runs
from scalkit.perfmodels.model import Bounds, PerformanceModel
from scalkit.perfmodels.overlap_fit import OverlapFit, fit_overlap
from scalkit.perfmodels.packing_fit import PackingFit, fit_packing
from scalkit.perfmodels.point_to_point import LogGP, PointToPoint, Protocol
from scalkit.perfmodels.range_model import RangeModel
from scalkit.perfmodels.ranges import Range
from scalkit.perfmodels.rooted import Placement, RootedTimes, over_roots
from scalkit.perfmodels.same_messages import same_messages
from scalkit.perfmodels.simgrid import from_simgrid, to_simgrid
from scalkit.perfmodels.simulators import from_loggopsim, to_loggopsim
from scalkit.perfmodels.size_and_processes import XuFit, fit_xu
from scalkit.perfmodels.step_fit import StepFit, fit_hops, fit_matching, fit_reducing, hops_of
from scalkit.perfmodels.stride_fit import StrideFit, fit_strides
from scalkit.perfmodels.variants import in_groups, with_datatype

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
