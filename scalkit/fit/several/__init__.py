"""Models of several parameters at once: their points, the search of products, the fits, and how they are written."""

from scalkit.fit.several.fits import SeveralFit, fit_several

__all__ = ["SeveralFit", "fit_several"]
