# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-slow check bench bench-gpu docs docs-outputs clean

demo: $(READY)
	$(BIN)/isogloss demo

test: $(READY)
	$(BIN)/python -m pytest -n 2

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py

bench: $(READY)
	$(BIN)/python -m benchmarks

# side by side on a GPU, each with its floor (docs/performance.md); QUICK=1 tries it out, on a CPU too
bench-gpu: $(READY)
	$(BIN)/python -m benchmarks gpu $(if $(QUICK),--quick)

# the site, in site/; any warning is an error
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # not --quiet, which hides warnings from --strict

# what the tour and the notebook show, run anew (minutes): after a change of what they print
docs-outputs: $(READY)
	$(BIN)/python docs/tools/doc_pages.py docs/tour.md docs/notebooks/tour.ipynb

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
