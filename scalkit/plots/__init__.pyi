from scalkit.plots.models.measured import model as model
from scalkit.plots.models.message_flow import message_flow as message_flow
from scalkit.plots.models.strides import strides as strides
from scalkit.plots.traces.matrix import trace_matrix as trace_matrix
from scalkit.plots.verdicts.divergence import divergence as divergence
from scalkit.plots.verdicts.fit import fit as fit
from scalkit.plots.verdicts.overlay import scaling as scaling
