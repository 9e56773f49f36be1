"""scalkit tells the developers of a parallel library whether their code scales as it should.

The public names below are loaded at first use, so that ``import scalkit`` stays cheap.
"""

from scalkit.support.lazy import names_of

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
__all__ += ["__version__"]
