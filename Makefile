# The two commands of the README: `make demo` and `make test`. Both set up .venv on a machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test soak check bench screenshots clean

demo: $(VENV)/.ready
	$(BIN)/tt-debug demo

# Compiled first, and what pytest makes of its modules is kept: each of its processes, and of the many that tests start,
# would compile everything anew where PYTHONDONTWRITEBYTECODE is set.
test: $(VENV)/.ready
	$(BIN)/python -m compileall -q stores tt_debug tests
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 4 -m "not soak"

# A thousand runs and every point at which a process can be killed or stopped; hours. TT_DEBUG_SOAK_RUNS makes it fewer.
soak: $(VENV)/.ready
	$(BIN)/python -m pytest -m soak -s

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# With BENCH="--json FIGURES.json" the figures are kept; `python -m tests.bench.growth FIGURES.json screenshots/growth.svg`
# draws them, with the extra `bench`.
bench: $(VENV)/.ready
	$(BIN)/python -m tests.bench $(BENCH)

screenshots: $(VENV)/.ready
	$(BIN)/python -m tests.screenshots

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV)
