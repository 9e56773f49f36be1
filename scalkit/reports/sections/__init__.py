"""The sections of reports, one per module; each takes a `Page` or `Columns` and returns what a notebook cell shows."""

from scalkit.reports.sections.cards import cards as cards
from scalkit.reports.sections.cards import rules as rules
from scalkit.reports.sections.changes import before_after as before_after
from scalkit.reports.sections.changes import changes as changes
from scalkit.reports.sections.changes import regression_headline as regression_headline
from scalkit.reports.sections.compare import compare_functions as compare_functions
from scalkit.reports.sections.compare import compare_headline as compare_headline
from scalkit.reports.sections.compare import compare_prediction as compare_prediction
from scalkit.reports.sections.compare import compare_provenance as compare_provenance
from scalkit.reports.sections.compare import compare_quality as compare_quality
from scalkit.reports.sections.compare import compare_reopen as compare_reopen
from scalkit.reports.sections.compare import compare_summary as compare_summary
from scalkit.reports.sections.models import message_model as message_model
from scalkit.reports.sections.models import operation_models as operation_models
from scalkit.reports.sections.models import prediction as prediction
from scalkit.reports.sections.provenance import method as method
from scalkit.reports.sections.provenance import provenance as provenance
from scalkit.reports.sections.quality import quality as quality
from scalkit.reports.sections.quality import real_times as real_times
from scalkit.reports.sections.reopen import reopen as reopen
from scalkit.reports.sections.summary import headline as headline
from scalkit.reports.sections.summary import overview as overview
from scalkit.reports.sections.summary import summary as summary
