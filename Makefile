# Every target works on a fresh machine that has Python 3.11 to 3.13 and make.
PYTHON ?= python3
BIN := .venv/bin
DATA ?= ../shared/data
MINUTES ?= 10
# Some images set it; without bytecode each of the hundreds of processes that tests start would compile its sources anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long torture lint record bench reproduce commands settings json estimators vowpal-wabbit pages kernels wheel docs clean help

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: .venv/ready  ## learn three built-in streams, say who wins, draw it
	$(BIN)/ouzel demo

# Where tests lie that run without the JIT.
INTERPRETED := tests/checks tests/learners tests/model/test_slot_map.py tests/streams/kernels \
	tests/streams/formats/test_records.py tests/sketches/spectral tests/estimators/test_online.py \
	tests/comparison/test_contestant.py tests/comparison/test_regret.py tests/cli/commands/test_train.py \
	tests/cli/test_vowpal_wabbit_commands.py

# Threads of OpenBLAS wait for each other by spinning: ten times the work where there are more processes than processors.
# The default's kernels are compiled while the laws run, or several tests at once would each compile them.
test: export OPENBLAS_NUM_THREADS = 1
test: .venv/ready-test  ## run the laws of learning without the JIT, and the test suite with it
	$(BIN)/ouzel compile > /dev/null & \
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m "law or interpreted" $(INTERPRETED) && wait
	$(BIN)/python -m pytest -n 3 --dist loadscope -m "not long and not interpreted" --durations 40

test-long: .venv/ready-test  ## run the tests that take minutes
	$(BIN)/python -m pytest -m long

torture: .venv/ready  ## attack the program for MINUTES=10: kills, fuzzers, extreme numbers
	$(BIN)/python -m torture run --minutes $(MINUTES)

lint: .venv/ready-lint  ## check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

record: .venv/ready-test  ## compare what is read, learnt and said with the record, records/today.json
	$(BIN)/python -m records compare

bench: .venv/ready-bench  ## measure speed and default errors beside Vowpal Wabbit, River and scikit-learn
	$(BIN)/python benchmarks/run.py --data $(DATA)

reproduce: .venv/ready  ## make the papers' tables and figures anew, in half an hour; git diff then shows what differs
	set -e; for name in $$($(BIN)/ouzel reproduce | cut -d' ' -f1); do $(BIN)/ouzel reproduce $$name --data $(DATA); done

commands: .venv/ready  ## write docs/commands.md anew, after a change of the command line
	$(BIN)/python -m ouzel.cli.commands_page > docs/commands.md

settings: .venv/ready  ## write docs/settings.md anew, after a change of a setting
	$(BIN)/python -m ouzel.cli.settings_page > docs/settings.md

json: .venv/ready  ## write docs/json.md anew, after a change of what commands print with --json
	$(BIN)/python -m ouzel.cli.schemas.page > docs/json.md

estimators: .venv/ready  ## write the classes of named estimators anew, after a change of a learner or a setting
	$(BIN)/python -m ouzel.cli.estimator_modules

vowpal-wabbit: .venv/ready  ## write docs/vowpal-wabbit.md anew, after a change of its table
	$(BIN)/python -m ouzel.cli.vowpal_wabbit > docs/vowpal-wabbit.md

pages: .venv/ready  ## run the commands that stand in the pages; write what they print, and docs/images, anew
	$(BIN)/python docs/console.py

# Kernels that the wheel has: of these learners and all readers, for all processors of the family. `KERNELS=` is a wheel
# without any, for every platform. Those of an earlier build that are still right are kept.
KERNELS ?= .kernels
FAMILY ?= $(if $(filter x86_64,$(shell uname -m)),x86-64-v3,armv8-a)
SHIPPED := auto adagrad adagrad-rda son-oja awm arow ogd

kernels: .venv/ready  ## compile the kernels that `make wheel` puts into the wheel, into KERNELS=.kernels
	$(BIN)/ouzel compile --cache-dir $(KERNELS) --cpu $(FAMILY) $(SHIPPED:%=--learner %) --prune

wheel: .venv/ready $(if $(KERNELS),kernels)  ## build the wheel, install it in an environment of its own, and learn with it far from the checkout
	rm -rf dist .venv/wheel
	OUZEL_KERNELS=$(abspath $(KERNELS)) $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv .venv/wheel
	.venv/wheel/bin/python -m pip install --quiet "$$(ls dist/ouzel-*.whl)[serve]"
	.ci/check_wheel .venv/wheel

docs: .venv/ready-docs pages  ## run the pages' commands as `make pages` does, and build the documentation into site/
	$(BIN)/mkdocs build --strict
	! grep -rlE '(src="|href="|url\()https?://[^" )]*\.(js|css|woff2?|png)' site --include=*.html --include=*.css
	$(BIN)/python docs/searches.py site
	@echo 'Search needs a server: python -m http.server --directory site'

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

# Bytecode is written here, whatever PYTHONDONTWRITEBYTECODE says: a start of `ouzel` without it takes .2 s more.
.venv/ready: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,explain]"
	$(BIN)/python -m compileall -q src tests
	touch $@

# A group of tools each, so that no target waits for what it does not use.
.venv/ready-%: .venv/ready
	$(BIN)/python -m pip install --quiet --group $*
	touch $@

clean:  ## remove what was built
	rm -rf .venv .kernels dist .pytest_cache .ruff_cache .mypy_cache site
