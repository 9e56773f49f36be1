"""The package py-scalkit of Spack."""

from spack.package import *


class PyScalkit(PythonPackage):
    """Tells the developers of a parallel library whether their code scales as it should."""

    homepage = "https://github.com/scalkit/scalkit"
    pypi = "scalkit/scalkit-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("mpi", default=True, description="Measure MPI libraries and programs")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.26:", type="build")
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-scipy@1.12:", type=("build", "run"))
    depends_on("py-xarray@2024.10:", type=("build", "run"))
    depends_on("py-sympy@1.13:", type=("build", "run"))
    depends_on("py-lmfit@1.3:", type=("build", "run"))
    depends_on("py-plotly@6.0:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-jsonschema@4.20:", type=("build", "run"))
    # the microbenchmarks are compiled at first use
    depends_on("mpi", type="run", when="+mpi")
    depends_on("gmake", type="run", when="+mpi")
