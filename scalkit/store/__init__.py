"""The results of many runs on many machines: filed, compared, and asked which operation to choose.

``store = scalkit.store.open("results")`` opens a folder; then ``store.put(...)``, ``runs``, ``suites``, ``load``, ``compare``,
``advise``, ``merge``. ``scalkit.store.validate(path)`` tells whether a submission can be merged.
"""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
