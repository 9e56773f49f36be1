from scalkit.store.filed.outcome import Filed as Filed
from scalkit.store.opening import open as open
from scalkit.store.runs.columns import PATTERNS as PATTERNS
from scalkit.store.runs.columns import SCHEMA_VERSION as SCHEMA_VERSION
from scalkit.store.store import Store as Store
from scalkit.store.submissions.containers import Policy as Policy
from scalkit.store.submissions.report import Report as Report
from scalkit.store.submissions.report import validate as validate
