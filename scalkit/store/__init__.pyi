from scalkit.store.opening import open as open
from scalkit.store.signing import trust as trust
from scalkit.store.store import Store as Store
from scalkit.store.submissions.containers import Policy as Policy
from scalkit.store.submissions.report import Report as Report
from scalkit.store.submissions.report import validate as validate
