# What people type: `make report` (measure this machine's MPI, write report.html) and `make test`.
# Both create everything they need under .venv/; see `make help`.

VENV   ?= .venv
RUNS   ?= runs/here
OUT    ?= report.html
COUNTS ?= 2,4,8,16,32
TIMES  ?= 2,3,4,6,8,12,16,24,32,48,64
NRUNS  ?= 5
BUDGET ?= 150

BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --no-input -q
STEADILY := sh tests/suite/steadily.sh

# Python compiles each module once, not in each of the hundreds of processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# Two installations into one environment at the same time damage it.
.NOTPARALLEL:
.PHONY: help docs dist report try-system-deps test test-all lint check-c pytest core test-mpi system-deps data lab clean distclean mpi

help:
	@echo "make report       measure the MPI library of this machine, write $(OUT) (about two minutes);"
	@echo "                  what is in $(RUNS) already is not measured again"
	@echo "make test         style, types, C tests, and the Python tests with a real run of each kind"
	@echo "make test-all     and what is slow by nature: all notebooks, further MPI libraries, documentation, wheel, coverage"
	@echo "                  parts of them: make lint, make check-c, make core, make pytest PYTEST_FLAGS='-k growth';"
	@echo "                  make test-mpi: with the MPI library that is first on PATH"
	@echo "make lab          JupyterLab on the notebooks"
	@echo "make docs         the documentation site, which '$(BIN)/scalkit docs' opens; make dist: sdist and wheel with it"
	@echo "make data         a long campaign: 10 runs, no time budget, into data/runs/"
	@echo "make system-deps  Debian packages that some tests need (root and apt-get)"
	@echo "make clean        remove measurements and reports made here;  make distclean: and .venv"
	@echo "Settings: COUNTS=$(COUNTS) (memory) TIMES=$(TIMES) (run times) RUNS=$(RUNS) OUT=$(OUT) PYTHON=...;"
	@echo "          where there is no virtual time COUNTS, NRUNS=$(NRUNS) and BUDGET=$(BUDGET)"

# ---- the environment ----------------------------------------------------------------------------

$(BIN)/python:
	@py="$(PYTHON)"; \
	if [ -z "$$py" ]; then \
	  for c in python3.12 python3.13 python3.11 python3; do \
	    if command -v $$c >/dev/null 2>&1 && $$c -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	    then py=$$c; break; fi; done; fi; \
	if [ -z "$$py" ]; then echo "make: Python 3.11 or newer with its venv module is needed; install it or say PYTHON=/path/to/python3" >&2; exit 2; fi; \
	echo "make: creating $(VENV) with $$($$py --version)"; \
	$$py -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	@$(STEADILY) "installing scalkit into $(VENV)" $(PIP) install -c constraints.txt -e '.[report]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/.base
	@$(STEADILY) "installing what the tests need" $(PIP) install -c constraints.txt -e '.[test]'
	@touch $@

# An MPI library that compiles and starts two ranks in one world: the user's, or the wheel.
mpi: $(VENV)/.base
	@$(BIN)/scalkit doctor --need mpi >/dev/null 2>&1 || { \
	  $(STEADILY) "no working mpicc and mpiexec on PATH; installing the mpich wheel into $(VENV)" \
	    $(PIP) install -c constraints.txt -e '.[report,mpi]' && $(BIN)/scalkit doctor --need mpi; }

# ---- the main job ---------------------------------------------------------------------------------

report: mpi
	@$(BIN)/python tests/suite/make_report.py --runs "$(RUNS)" --out "$(OUT)" --counts $(COUNTS) --times $(TIMES) \
	  --n-runs $(NRUNS) --budget $(BUDGET)

data: mpi
	$(BIN)/scalkit measure collectives memory -n $(COUNTS) --runs 10 --out data/runs/$$(date -u +%Y-%m-%d)-$$(hostname -s)

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/.base
	@$(STEADILY) "installing what the documentation needs" $(PIP) install -c constraints.txt -e '.[docs]'
	@touch $@

# Nothing is fetched: the theme and the pictures bring what they need.
SITE := scalkit/_shipped/site
docs: $(VENV)/.docs
	@rm -rf $(SITE)
	@$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs $(SITE)
	@rm -f $(SITE)/.buildinfo $(SITE)/objects.inv
	@echo "make: $(SITE)/index.html"

dist: docs
	@$(STEADILY) "installing what builds packages" $(PIP) install -c constraints.txt build
	@$(BIN)/python -m build

lab: $(VENV)/.base
	@$(STEADILY) "installing JupyterLab" $(PIP) install -c constraints.txt -e '.[all]'
	@$(BIN)/scalkit lab

# ---- the checks -------------------------------------------------------------------------------------

# Flags for pytest alone, as in PYTEST_FLAGS="-k growth".
SUITE = $(BIN)/python tests/suite/run.py

test: mpi $(VENV)/.test try-system-deps
	@$(SUITE) $(if $(strip $(PYTEST_FLAGS)),-- $(PYTEST_FLAGS))

test-all: mpi $(VENV)/.test $(VENV)/.docs try-system-deps
	@$(SUITE) --all $(if $(strip $(PYTEST_FLAGS)),-- $(PYTEST_FLAGS))

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-c: mpi
	@PATH="$$PATH:$$(cd $(BIN) && pwd)"; export PATH; \
	for folder in microbench notebooks/mafia notebooks/onesided; do $(MAKE) --no-print-directory -C $$folder check || exit 1; done

pytest: $(VENV)/.test
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

# The tests of the core, in an environment without any extra.
core: $(VENV)/.test
	@$(SUITE) --core $(if $(strip $(PYTEST_FLAGS)),-- $(PYTEST_FLAGS))

WORKERS ?= $(shell nproc 2>/dev/null || echo 2)

# The C checks and the tests that start MPI, with the library whose mpicc is first on PATH, as Debian's.
test-mpi: $(VENV)/.test
	@$(MAKE) --no-print-directory -C microbench check
	@$(MAKE) --no-print-directory -C notebooks/onesided check
	SCALKIT_TEST_MPI="$$(dirname "$$(command -v mpicc)")" $(BIN)/python -m pytest -m mpi -n $(WORKERS) --dist loadfile $(PYTEST_FLAGS)

# a program that tells whether it is there, and the packages that bring it
SYSTEM_DEPS := smpicc:libsimgrid-dev chromium:chromium,fonts-dejavu-core slurmctld:slurmctld,slurmd,slurm-client,munge otf2-print:otf2-tools,libotf2-trace-dev gfortran:gfortran ssh-keygen:openssh-client

system-deps:
	@missing=$$(for pair in $(SYSTEM_DEPS); do command -v $${pair%%:*} >/dev/null 2>&1 || echo $${pair#*:}; done | tr ',\n' '  '); \
	[ -z "$$missing" ] || { \
	  $(STEADILY) "updating the list of Debian's packages" apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $(STEADILY) "installing $$missing" \
	    sh -c "apt-get install -y -qq --no-install-recommends $$missing >/dev/null"; }

# Without root and apt-get, the tests that need one of these packages are listed at the end as not run.
try-system-deps:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then $(MAKE) --no-print-directory system-deps; fi

clean:
	rm -rf $(RUNS) $(RUNS)-real $(OUT) $(OUT:.html=.verdict.json) $(OUT:.html=.junit.xml) $(SITE) build dist
	$(MAKE) --no-print-directory -C microbench clean

distclean: clean
	rm -rf $(VENV)
