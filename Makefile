# Every target works on a fresh machine that has Python 3.11 to 3.13 and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: test lint clean

test: $(READY)  ## run the test suite
	$(BIN)/python -m pytest -n 2

lint: $(READY)  ## check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group test --group lint
	touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .mypy_cache
