# Everything starts from a bare clone: Python >= 3.11 and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test coverage check format bench agreement reproduce clean

demo: $(VENV)/.demo
	$(BIN)/franet demo

test: $(VENV)/.test
	$(BIN)/python -m pytest

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

format: $(VENV)/.check
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

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

clean:
	rm -rf $(VENV) build dist .coverage* htmlcov

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.demo: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[network,report]'
	touch $@

$(VENV)/.test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

$(VENV)/.check: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[check]'
	touch $@
