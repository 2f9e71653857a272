# The project's commands. `make demo` and `make test` each set up everything they need on a fresh machine.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DATA ?= demo-data
# Tests that share what is dear to make stay in one worker (tests/conftest.py).
WORKERS ?= 3
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup --durations=10
READY := $(VENV)/.ready
export RAY_USAGE_STATS_ENABLED = 0

.PHONY: setup browser engine demo test docs test-quick test-all matrix laws check check-deps bench gpu drills simulate fuzz clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("swingby needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (minutes, once; with the torch for CUDA that PyPI gives, 7 GB there and more than 2 GB in TMPDIR) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

# Pages are tested in real browsers; Debian's packages are those that are tried.
browser:
	@command -v chromium >/dev/null && command -v firefox-esr >/dev/null || { \
	  echo "installing chromium and firefox-esr for the browser tests ..."; \
	  sudo=$$([ "$$(id -u)" = 0 ] || echo "sudo -n"); \
	  { $$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends chromium firefox-esr fonts-dejavu-core; } >/dev/null 2>&1 || \
	  { echo "cannot install chromium and firefox-esr here: install them by hand (Debian: apt-get install chromium firefox-esr)"; exit 2; }; }

demo: $(READY)
	@$(BIN)/swingby run transient-memorization --data $(DATA)
	@$(BIN)/swingby report transient-memorization --data $(DATA) --out $(DATA)/reports

test: $(READY) browser
	@$(BIN)/python -m tests.support.compile_kernels
	@$(PYTEST)

# DuckDB-WASM, which pages of `report --supplement` hold, into the package: a wheel that is built then has it (8.4 MB).
engine: $(READY)
	@$(BIN)/python -m swingby_analysis.page.engine

# Every page with the reference and the API: build/site/index.html, which loads nothing from a network. Its search needs a
# server: python -m http.server -d build/site
docs: $(VENV)/.docs
	@$(BIN)/python -m tests.support.build_site build/site

$(VENV)/.docs: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

# What is near to your change, for a minute: make test-quick BASE=main
BASE ?= HEAD
test-quick: $(READY)
	@$(PYTEST) --touched=$(BASE)

# A LaTeX document takes the figures for a paper; without its programs that test is skipped.
test-all: $(READY) browser
	@command -v pdflatex >/dev/null && command -v pdftohtml >/dev/null || echo "no LaTeX: its test is skipped (Debian: apt-get \
	install --no-install-recommends texlive-latex-base texlive-pictures lmodern fonts-lmodern poppler-utils)"
	@$(PYTEST) -m 'slow or not slow' --timeout=3600 --hypothesis-profile=new-examples

# Installs for reading, with each of Python 3.11 to 3.13 that is here, and runs a quick set of tests: make matrix PYTHONS=3.12
matrix:
	@PYTHONS="$(PYTHONS)" .ci/matrix

# The laws alone, each with examples that no run before has seen: make laws ROUNDS=10
ROUNDS ?= 1
laws: $(READY)
	@for round in $$(seq $(ROUNDS)); do $(PYTEST) -m 'hypothesis and not slow' --hypothesis-profile=new-examples || exit 1; done

check: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports

# Licences of what is installed, and known vulnerabilities where pip-audit is installed and can ask.
check-deps: $(READY)
	@$(BIN)/python -m tests.support.dependencies

bench: $(READY)
	@$(BIN)/python -m tests.benchmarks

# All that there is to do on one GPU, the most valuable first: make gpu MINUTES=9 OUT=build/gpu. The same command goes on.
gpu: $(READY)
	@$(BIN)/python -m tests.gpu --minutes $(or $(MINUTES),9) --out $(or $(OUT),build/gpu)

# Faults of all kinds, at random moments, with a printed log: make drills SEED=3 MINUTES=30
drills: $(READY)
	@$(BIN)/python -m tests.drills --seed $(or $(SEED),0) --minutes $(or $(MINUTES),15)

# The protocol of the record folder on disks that lose what was not synced, under a clock and a scheduler that repeat:
# make simulate MINUTES=10 SEED=1; one history's log: HISTORY=7; faults planted on purpose, each to be found: FAULTS=1
simulate: $(READY)
	@$(BIN)/python -m tests.simulate --seed $(or $(SEED),0) --histories $(or $(HISTORIES),100000) \
	  --minutes $(or $(MINUTES),10) $(if $(HISTORY),--history $(HISTORY)) $(if $(FAULTS),--faults)

# A fuzzer led by coverage at what reads texts and files of others: make fuzz RUNS=1000000
RUNS ?= 20000
fuzz: $(READY)
	@for target in sweep expression sql record; do $(BIN)/python -m tests.drills.fuzz $$target -runs=$(RUNS) || exit 1; done

clean:
	rm -rf $(VENV) $(DATA) build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
