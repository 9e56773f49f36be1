"""Readers of other programs' files, one module a format; `formats` lists them, `foreign` reads them."""
