# Everything starts from a bare clone: Python >= 3.11 and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test coverage check docs format bench agreement reproduce published reliability dist versions clean

demo: $(VENV)/.demo
	$(BIN)/franet demo

# How many processes "auto" is: tests/conftest.py. Each begins with a part of the tests in
# their order, so that files stay together, and takes over from others when it has none.
PYTEST = -m pytest --numprocesses=auto --maxprocesses=4 --dist=worksteal

test: $(VENV)/.test
	$(BIN)/python $(PYTEST)

# Lines of the compiled kernels are seen by coverage only when they run as Python.
coverage: $(VENV)/.test
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -m kernels tests
	$(BIN)/coverage combine
	$(BIN)/coverage report --fail-under=95

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive src
	$(BIN)/python .ci/audit.py

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site into build/docs, with nothing from the network. Examples that ran and did not
# change are not run again.
docs: $(VENV)/.docs
	rm -rf docs/api/generated
	$(BIN)/sphinx-build -W --keep-going -n -q -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

# The wheel and the sdist into dist/, looked into, and used where nothing else is.
dist:
	$(PYTHON) .ci/dist.py

# The tests where versions matter, in two environments: with the oldest versions that
# pyproject.toml allows, and with the newest there are. Half an hour on two cores;
# TESTED="tests/io" runs less. NEWEST is the newest Python, if it is not on the PATH.
# With the variable scikit-learn checks arrays of other libraries, too; without it the
# checks of 1.6 cannot be imported where array-api-compat is.
TESTED ?= tests/test_*sklearn*.py tests/estimators \
	tests/test_import.py tests/test_mixed*.py tests/test_anndata*.py tests/test_sparse.py \
	tests/engine tests/io tests/pairs tests/search tests/rankers tests/cover tests/network \
	tests/evaluation tests/cli
OLDEST ?= $(PYTHON)
NEWEST ?= $(firstword $(foreach minor,14 13 12 11,\
	$(shell python3.$(minor) -V >/dev/null 2>&1 && echo python3.$(minor))))

versions:
	PIP_CONSTRAINT=.ci/oldest.txt $(MAKE) VENV=.venv-oldest PYTHON=$(OLDEST) .venv-oldest/.test
	SCIPY_ARRAY_API=1 .venv-oldest/bin/python $(PYTEST) $(TESTED)
	PIP_UPGRADE=1 PIP_UPGRADE_STRATEGY=eager \
		$(MAKE) VENV=.venv-newest PYTHON=$(NEWEST) .venv-newest/.test
	SCIPY_ARRAY_API=1 .venv-newest/bin/python $(PYTEST) $(TESTED)

.venv-oldest/.installed: .ci/oldest.txt

# In an environment of its own: peers hold back the versions of their dependencies.
# Half an hour; BENCH=--quick leaves out what takes minutes.
bench:
	$(MAKE) VENV=.venv-bench .venv-bench/.bench
	.venv-bench/bin/python benchmarks/speed.py $(BENCH)

# The estimator against the definition on every data set; long without a GPU.
agreement: $(VENV)/.test
	$(BIN)/python benchmarks/agreement.py

# What docs/benchmark shows: hours, to be stopped and resumed. Wants the data sets in
# FRANET_DATA or the cache, and PyTorch with a GPU for one experiment.
reproduce:
	$(MAKE) VENV=.venv-bench .venv-bench/.bench
	.venv-bench/bin/python benchmarks/reproduce/run.py
	.venv-bench/bin/python benchmarks/reproduce/experiments.py
	.venv-bench/bin/python benchmarks/reproduce/collect.py
	.venv-bench/bin/python benchmarks/reproduce/document.py

# Ours beside what FSEVAL and FAE published: to be stopped and resumed.
# Wants the data sets in FRANET_DATA or ../shared.
published:
	$(MAKE) VENV=.venv-published .venv-published/.published
	.venv-published/bin/python benchmarks/published.py
	.venv-published/bin/python benchmarks/reproduce/document.py --only published

# The long form of tests/reliability, for hours; RELIABILITY=kills runs one part.
# Some of it mounts a small disk, which needs root on Linux.
reliability: $(VENV)/.test
	PYTHONPATH=tests $(BIN)/python -m reliability $(RELIABILITY)

clean:
	rm -rf $(VENV) build dist .coverage* htmlcov docs/guides docs/api/generated docs/api/examples

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.demo: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[network,report,pandas]'
	touch $@

$(VENV)/.test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

$(VENV)/.published: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[published]'
	touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

$(VENV)/.check: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[check]'
	touch $@
