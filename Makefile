# Every command of citebus. It needs Python 3.11 or newer with pip, and make; the rest comes into .venv, from the lock.

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= logical
# Arguments for `make bench`, `make crash` and `make eval`, e.g. make bench ARGS=--help
ARGS    ?=

BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
# READY and what only tests and type checks need: the agent's wheel is 180 MB, too much for a demo
WHOLE   := $(VENV)/.whole
PIP     := $(BIN)/python -m pip --disable-pip-version-check --quiet
VERSION  = $(shell $(BIN)/python -c "from importlib.metadata import version; print(version('citebus'))")

.DEFAULT_GOAL := help
.PHONY: help demo up test check format bench eval crash schemas docs freeze lock install clean

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1@/p' Makefile | while IFS=@ read -r name text; do printf '%-15s %s\n' "$$name" "$$text"; done

demo: $(READY) ## everything from nothing: servers, a sample vault, a cited answer
	$(BIN)/citebus demo

up: $(READY) ## all services on your own folder: make up VAULT=~/notes
	@test -n "$(VAULT)" || { echo "Say which folder: make up VAULT=path/to/your/notes" >&2; exit 2; }
	$(BIN)/citebus up "$(VAULT)"

test: $(WHOLE) ## the whole suite, on real servers
	$(BIN)/pytest -n $(WORKERS)

check: $(WHOLE) ## format, lint, import rules, types, fast tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/pytest -q -n $(WORKERS) tests/unit tests/schemas tests/architecture

format: $(READY) ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(WHOLE) ## speed and memory on this machine, as a table and JSON
	$(BIN)/python -m tests.bench $(ARGS)

eval: $(READY) ## how good retrieval and answers are: make eval DATA=folder of judged sets (without: the sample vault only)
	@test -n "$(DATA)" || echo "Only the sample vault: for judged sets say make eval DATA=FOLDER (docs/evaluation.md)" >&2
	$(BIN)/citebus eval tests/e2e/sample_questions.json --vault deploy/embedded/sample_vault \
		$(if $(DATA),deploy/evaluation/sets.toml --data "$(DATA)") --all-profiles $(ARGS)
	$(BIN)/citebus eval $(addprefix tests/e2e/,sample_questions.json answer_questions.json multi_hop_questions.json) \
		--vault deploy/embedded/sample_vault --answers \
		$(if $(DATA),deploy/evaluation/answer_sets.toml --data "$(DATA)") $(ARGS)

crash: $(WHOLE) ## kill real processes at random and compare with a clean rebuild
	$(BIN)/pytest -m crash $(ARGS)

schemas: $(READY) ## write schemas/ from the contracts
	$(BIN)/python -m deploy.documents schemas

docs: $(READY) ## write the reference pages in docs/ from contracts and settings
	$(BIN)/python -m deploy.documents docs

freeze: schemas ## keep today's schemas as the ones that this version releases
	@! git rev-parse -q --verify "refs/tags/v$(VERSION)" >/dev/null || { echo "v$(VERSION) is released: its golden set stays." >&2; exit 1; }
	mkdir -p tests/schemas/golden/v$(VERSION)/schemas
	cp schemas/citebus.*.json tests/schemas/golden/v$(VERSION)/schemas/

LOCK := --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make lock'

lock: $(READY) ## resolve the newest versions that pyproject.toml allows into the locks
	$(BIN)/uv pip compile $(LOCK) --extra all --group dev --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile $(LOCK) --extra agent --constraint requirements.lock --output-file requirements-agent.lock pyproject.toml

install: $(READY) ## only the environment

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "citebus needs Python 3.11 or newer, this is %s; name another: make PYTHON=python3.12" % sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python can make no virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "Installing into $(VENV) (once; a minute or two) ..."
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.lock
	@$(PIP) install --require-hashes --requirement $(VENV)/uv.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --requirement requirements.lock \
		|| $(PIP) install --require-hashes --requirement requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(WHOLE): $(READY) requirements-agent.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --requirement requirements-agent.lock
	@touch $@

clean: ## delete the environment and everything that was generated for this machine
	rm -rf $(VENV) .demo bench-results eval-results dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
