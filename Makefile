# Two commands: `make demo` shows what Elman does, `make test` proves that it works.
# Both set up .venv the first time and do nothing about it the second.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ONE_THREAD := OMP_NUM_THREADS=1

# What everything else stands on, tested in seconds.
QUICK := tests/test_architecture.py tests/test_config.py tests/test_state.py tests/decoding tests/formula tests/metrics

.PHONY: demo test quick test-gpu mutants versions check course wheel sanitize docs format clean

demo: $(STAMP)
	$(BIN)/elman demo

test: check
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2

# Under a minute on two cores.
quick: check
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 $(QUICK)

# Installs nothing: a GPU machine may have a PyTorch of its own. Without .venv it runs with $(PYTHON).
JOBS ?= 1
test-gpu:
	PYTHONPATH=src $(if $(wildcard $(BIN)/python),$(BIN)/python,$(PYTHON)) -m tests.gpu --jobs $(JOBS)

# Breaks the code in many small ways and sees whether a test notices; goes on where the last run stopped.
MUTANTS ?= --jobs 2 --seconds 3600
mutants: $(STAMP)
	$(BIN)/python -m tests.mutants $(MUTANTS)

# Hours: every Python and PyTorch that pyproject.toml promises, in fresh environments under build/.
versions: $(STAMP)
	$(BIN)/python tests/campaign/versions.py

check: $(STAMP)
	$(BIN)/ruff format --check src tests bench docs
	$(BIN)/ruff check src tests bench docs course
	$(BIN)/mypy

# Executes every notebook of the course and writes it anew.
course: $(STAMP)
	$(ONE_THREAD) $(BIN)/python course/write.py

# A wheel in dist/ with the C++ of Elman's own cells compiled: whoever installs it needs no compiler.
wheel: $(STAMP)
	$(BIN)/python -m pip install --quiet 'hatchling>=1.27'
	rm -rf src/elman/native/compiled
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

# The tests of the C++ under the sanitizers of addresses and undefined behaviour.
sanitize: $(STAMP)
	ELMAN_NATIVE_FLAGS="-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined" ELMAN_CACHE=build/sanitized \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 tests/kernels/test_large_products.py tests/scan/test_cpu_executor.py \
	tests/kernels/test_dot_attention.py tests/kernels/test_ctc.py tests/kernels/test_softmax_nll.py \
	tests/kernels/test_few_rows.py tests/kernels/test_token_ranking.py tests/layers/test_token_step.py tests/layers/test_decoder_program.py \
	-k "large_products or every_cell or share_a_cell or lanes or few_rows or dot_attention or ctc or softmax_nll or ranking or token_step or decoder_program"

# The site in site/: the pages of docs/ and an API reference. Every link and anchor is checked.
docs: $(STAMP)
	$(BIN)/python docs/default_table.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(STAMP)
	$(BIN)/ruff format src tests bench docs
	$(BIN)/ruff check --fix src tests bench docs

# torch first, in the version that is tested: what comes after is content with it.
$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 14) else "Elman needs Python 3.11 to 3.13, this is %d.%d: make PYTHON=python3.12" % v)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[plot,track,demo,docs,dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis site
