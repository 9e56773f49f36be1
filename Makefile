# What people type: `make report` (measure this machine's MPI, write report.html) and `make test`.
# Both create everything they need under .venv/; see `make help`.

VENV   ?= .venv
RUNS   ?= runs/here
OUT    ?= report.html
COUNTS ?= 2,4,8,16,32
TIMES  ?= 2,3,4,6,8,12,16,24,32,48,64
NRUNS  ?= 5
BUDGET ?= 150

REAL := $(RUNS)-real
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --no-input -q

# Python compiles each module once, not in each of the hundreds of processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help docs dist report test lint check-c core pytest ranks others test-mpi system-deps data lab clean distclean mpi

help:
	@echo "make report       measure the MPI library of this machine, write $(OUT) (two to three minutes);"
	@echo "                  what is in $(RUNS) already is not measured again"
	@echo "make test         every check: style, types, C tests, Python tests, notebooks, wheel"
	@echo "make lab          JupyterLab on the notebooks"
	@echo "make docs         the documentation site, which '$(BIN)/scalkit docs' opens; make dist: sdist and wheel with it"
	@echo "make data         a long campaign: 10 runs, no time budget, into data/runs/"
	@echo "make system-deps  Debian packages that some tests need (root and apt-get)"
	@echo "make clean        remove measurements and reports made here;  make distclean: and .venv"
	@echo "Settings: COUNTS=$(COUNTS) (memory) TIMES=$(TIMES) (run times) RUNS=$(RUNS) OUT=$(OUT) PYTHON=...;"
	@echo "          real times NRUNS=$(NRUNS), and where there is no virtual time COUNTS and BUDGET=$(BUDGET)"

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
	@echo "make: installing scalkit into $(VENV)"
	@$(PIP) install -c constraints.txt -e '.[report]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/.base
	@echo "make: installing what the tests need"
	@$(PIP) install -c constraints.txt -e '.[test]'
	@touch $@

# An MPI library that compiles and starts two ranks in one world: the user's, or the wheel.
mpi: $(VENV)/.base
	@$(BIN)/scalkit doctor --need mpi >/dev/null 2>&1 || { \
	  echo "make: no working mpicc and mpiexec on PATH; installing the mpich wheel into $(VENV)"; \
	  $(PIP) install -c constraints.txt -e '.[report,mpi]' && $(BIN)/scalkit doctor --need mpi; }

# Those numbers of processes that have a core each.
define UP_TO_CORES
import sys; from scalkit.bench.libraries.mpi import cores; from scalkit.cli.options.measuring_rules import counts_of; \
print(",".join(str(n) for n in counts_of(sys.argv[1], "-n") if n <= cores()))
endef

# ---- the main job ---------------------------------------------------------------------------------

# Run times of virtual time decide with any number of cores. Real ones are taken up to the number of cores and shown beside them, or,
# where the library cannot run in virtual time, in their place.
report: mpi
	@beside=; \
	if $(BIN)/scalkit doctor --need virtual >/dev/null 2>&1; then \
	  here=$$($(BIN)/python -c '$(UP_TO_CORES)' "$(TIMES)" 2>/dev/null); \
	  if [ -n "$$here" ]; then \
	    if $(BIN)/scalkit measure collectives -n "$$here" --runs $(NRUNS) --budget 20 --out $(REAL) --set-aside; \
	    then beside="--real-times $(REAL)"; else echo "make: the report will show no real times" >&2; fi; \
	  fi; \
	  set -- -n $(TIMES) --memory-n $(COUNTS) --clock virtual; \
	else \
	  echo "make: the MPI library cannot run in virtual time here ('$(BIN)/scalkit doctor --need virtual' says why); run times are real"; \
	  set -- -n $(COUNTS) --runs $(NRUNS) --budget $(BUDGET); \
	fi; \
	$(BIN)/scalkit measure collectives memory "$$@" --out $(RUNS) --set-aside || { \
	  status=$$?; [ ! -f $(RUNS)/campaign.toml ] || echo "make: a report on what is there: $(BIN)/scalkit report $(RUNS)" >&2; \
	  exit $$status; }; \
	$(BIN)/scalkit report $(RUNS) $$beside --out $(OUT) --force || [ $$? -eq 1 ]

data: mpi
	$(BIN)/scalkit measure collectives memory -n $(COUNTS) --runs 10 --out data/runs/$$(date -u +%Y-%m-%d)-$$(hostname -s)

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/.base
	@$(PIP) install -c constraints.txt -e '.[docs]'
	@touch $@

# Nothing is fetched: the theme and the pictures bring what they need.
SITE := scalkit/_shipped/site
docs: $(VENV)/.docs
	@rm -rf $(SITE)
	@$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs $(SITE)
	@rm -f $(SITE)/.buildinfo $(SITE)/objects.inv
	@echo "make: $(SITE)/index.html"

dist: docs
	@$(PIP) install -c constraints.txt build
	@$(BIN)/python -m build

lab: $(VENV)/.base
	@$(PIP) install -c constraints.txt -e '.[all]'
	@$(BIN)/scalkit lab

# ---- the checks -------------------------------------------------------------------------------------

test: mpi $(VENV)/.test
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then $(MAKE) --no-print-directory system-deps; fi
	@$(MAKE) --no-print-directory -j$$(nproc 2>/dev/null || echo 2) --output-sync=target lint check-c
	@$(MAKE) --no-print-directory pytest

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-c: mpi
	@PATH="$$PATH:$(abspath $(BIN))" $(MAKE) --no-print-directory -C microbench check

# Flags may choose tests of one kind alone; without any, both kinds must be there.
NONE_IS_FINE = $(if $(strip $(PYTEST_FLAGS)),|| [ $$? -eq 5 ])

# one more than there are cores, as many tests wait for a browser, a kernel or ranks
WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); [ $$cores -lt 4 ] && echo $$((cores + 1)) || echo 4)
SIDE_BY_SIDE = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
SLOWEST = --durations=20 --durations-min=5

pytest: core
	$(BIN)/python -m pytest -m alone $(SLOWEST) $(PYTEST_FLAGS) $(NONE_IS_FINE)
	@echo "make: tests that start ranks, and at the same time the others; each kind is printed when it has ended"
	@$(MAKE) --no-print-directory -j2 --output-sync=target ranks others

# Ranks that wait for each other spin, and take several times as long where they must wait for a core, too: so they come one
# test after the other, ahead of the rest.
ranks: $(VENV)/.test
	$(BIN)/python -m pytest -m "mpi and not alone and not core" $(SLOWEST) $(PYTEST_FLAGS) $(NONE_IS_FINE)

others: $(VENV)/.test
	nice -n 5 $(BIN)/python -m pytest -m "not mpi and not alone and not core" $(SIDE_BY_SIDE) $(SLOWEST) $(PYTEST_FLAGS) $(NONE_IS_FINE)

# The tests of the core, in an environment without any extra.
CORE = $(addprefix tests/,growth measure fit stats validation session)
core: $(VENV)/.test
	$(BIN)/python tests/core/environment.py $(VENV)/core
	$(VENV)/core/bin/python -m pytest -m core $(CORE) $(SIDE_BY_SIDE) $(SLOWEST) $(PYTEST_FLAGS) $(NONE_IS_FINE)

# The C checks and the tests that start MPI, with the library whose mpicc is first on PATH, as Debian's.
test-mpi: $(VENV)/.test
	@$(MAKE) --no-print-directory -C microbench check
	SCALKIT_TEST_MPI="$$(dirname "$$(command -v mpicc)")" $(BIN)/python -m pytest -m "mpi and alone" $(PYTEST_FLAGS) $(NONE_IS_FINE)
	SCALKIT_TEST_MPI="$$(dirname "$$(command -v mpicc)")" $(BIN)/python -m pytest -m "mpi and not alone" $(SIDE_BY_SIDE) $(PYTEST_FLAGS) $(NONE_IS_FINE)

# a program that tells whether it is there, and the packages that bring it
SYSTEM_DEPS := smpicc:libsimgrid-dev chromium:chromium,fonts-dejavu-core slurmctld:slurmctld,slurmd,slurm-client,munge jube:jube pdftops:poppler-utils otf2-print:otf2-tools,libotf2-trace-dev gfortran:gfortran

system-deps:
	@missing=$$(for pair in $(SYSTEM_DEPS); do command -v $${pair%%:*} >/dev/null 2>&1 || echo $${pair#*:}; done | tr ',' ' '); \
	[ -z "$$missing" ] || { apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; }

clean:
	rm -rf $(RUNS) $(REAL) $(OUT) $(OUT:.html=.verdict.json) $(OUT:.html=.junit.xml) $(SITE) build dist
	$(MAKE) --no-print-directory -C microbench clean

distclean: clean
	rm -rf $(VENV)
