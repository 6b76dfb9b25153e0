# SPDX-License-Identifier: BSD-3-Clause
#
# What can be done here, by name; CMake does the work. `make help` lists it.

PREFIX ?= /usr/local
BUILD_TYPE ?= Release
WERROR ?= OFF
JOBS ?= $(shell nproc)
UNITY ?= 8
BENCH_ARGS ?=
CHAT_ARGS ?=
MUTANTS ?=
ATTACK_ARGS ?=
GENKIT_ARGS ?=

SHELL = /bin/bash
.SHELLFLAGS = -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := build
.PHONY: help deps build run test test-release test-genkit test-browser \
  test-attack test-deployment bench load check asan mutants format install clean

# $(call configure,<folder>,<options>): Ninja if there is one; a folder that is
# configured already keeps its generator. UNITY sources are compiled as one: 8
# of them take half the time of 8 alone, 16 a fifth less, and 32 a tenth less
# again, but g++ then needs 5 GB instead of 3 for what is largest. Who edits one
# file again and again is quicker with UNITY=1.
configure = cmake -S . -B $(1) $(2) -DCMAKE_UNITY_BUILD=ON \
  -DCMAKE_UNITY_BUILD_BATCH_SIZE=$(UNITY) \
  $$(test -e $(1)/CMakeCache.txt || ! command -v ninja >/dev/null \
     || echo -GNinja) >/dev/null

configure_build = $(call configure,build,\
  -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DTERTULIA_WERROR=$(WERROR))

# What somebody waits for, `make run` and `make test`, is not optimized, and
# built by clang if there is one, which takes half of g++'s time. Both take the
# same folder, so that a test after a chat finds most of the library built.
# $(call configure_quick,<ON or OFF>): OFF leaves out what a chat does not need.
quick_compiler = $$(command -v clang++-14 clang++ c++ | head -n1)
beyond_chat = TESTS EXAMPLES HTTP_SERVER JWT METRICS STORE_CONTRACT
configure_quick = $(call configure,build-quick,\
  -DCMAKE_CXX_COMPILER=$(quick_compiler) \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= \
  -DTERTULIA_WERROR=$(WERROR) -DTERTULIA_BENCH=OFF \
  $(foreach part,$(beyond_chat),-DTERTULIA_$(part)=$(1)))

# $(call compile,<folder>,<target>)
compile = cmake --build $(1) --parallel $(JOBS) --target $(2)

# $(call ctest,<folder>): one more than there are cores, because some wait for
# the disk or for a process.
ctest = ctest --test-dir $(1) --parallel $$(($(JOBS) + 1)) --output-on-failure \
  --no-tests=error --no-label-summary

help: ## list what can be made
	@sed -n 's/^\([-a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 25

deps: ## install missing Debian packages
	@.ci/deps

build: deps ## build everything (BUILD_TYPE=Release, JOBS=all cores, UNITY=8)
	@$(configure_build)
	@$(call compile,build,all)

# stdin and stdout belong to the program: what the build says goes to stderr.
run test: UNITY = 32
run: ## talk to an agent that remembers (CHAT_ARGS=--new)
	@.ci/deps quick
	@{ $(call configure_quick,OFF) \
	    && $(call compile,build-quick,tertulia_tool); } </dev/null >&2
	@build-quick/runtime/cli/tertulia chat $(CHAT_ARGS)

test: ## run all tests and examples
	@.ci/deps quick
	@$(call configure_quick,ON)
	@$(call compile,build-quick,all)
	@$(call ctest,build-quick)

test-release: build ## run all tests and examples as `make build` builds them
	@$(call ctest,build)

bench: deps ## measure; writes build/bench.json (BENCH_ARGS=--smoke)
	@$(configure_build) \
	  -DTERTULIA_SMOKE_BENCH=$(if $(findstring --smoke,$(BENCH_ARGS)),ON,OFF)
	@$(call compile,build,tertulia_bench)
	@build/bench/tertulia_bench --json build/bench.json $(BENCH_ARGS)

# Without precompiled headers, so that an include that a header lacks shows.
check: override UNITY = 32
check: ## formatting, self-contained headers, clang-tidy
	@.ci/deps check
	@git ls-files -z '*.cpp' '*.hpp' \
	  | xargs -0 -r clang-format-14 --dry-run -Werror
	@$(call configure,build-check,-DCMAKE_CXX_COMPILER=clang++-14 \
	  -DCMAKE_BUILD_TYPE=Debug -DTERTULIA_WERROR=ON \
	  -DCMAKE_CXX_FLAGS_DEBUG='-O0 -Wreserved-identifier' \
	  -DTERTULIA_PCH=OFF -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON)
	@$(call compile,build-check,all_verify_interface_header_sets)
	@.ci/tidy build-check $(JOBS)

# By clang, so that its warnings count and what it makes of the code is run; and
# because g++ takes five times as long to build this. Of the examples each is a
# program, which takes longer to build and to link than to run.
asan: override UNITY = 32
asan: ## run all tests, built by clang, under AddressSanitizer and UBSan
	@.ci/deps check
	@$(call configure,build-asan,-DCMAKE_CXX_COMPILER=clang++-14 \
	  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O0 -g1' \
	  -DTERTULIA_WERROR=ON -DTERTULIA_BENCH=OFF -DTERTULIA_EXAMPLES=OFF \
	  -DTERTULIA_SANITIZE='address;undefined')
	@$(call compile,build-asan,all)
	@ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan.supp \
	  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	  $(call ctest,build-asan)

# With --record the answers of both servers are recorded anew.
test-genkit: build ## compare with Genkit's published server (needs Node 20)
	@tests/genkit/run.sh build $(GENKIT_ARGS)

load: test-genkit ## measure the server beside Genkit's and an echo (needs Node 20)
	@if test -d build/genkit/node_modules; then \
	  $(configure_build) -DTERTULIA_SMOKE_BENCH=OFF; \
	  $(call compile,build,http_load http_load_server); \
	  ulimit -n 20000; \
	  cd build/genkit; \
	  node load.mjs ../bench/http_load_server ../bench/http_load; fi

test-browser: test-genkit ## talk to the server in Debian's chromium
	@tests/browser/run.sh build

test-deployment: build ## serve behind nginx, for Prometheus and OTLP
	@tests/deployment/run.sh build

# With --count 1000000 --long it takes minutes, and awaits the time limits of
# the server.
test-attack: build ## attack the server over raw sockets (ATTACK_ARGS=--long)
	@tests/attack/run.sh build $(ATTACK_ARGS)

# Not part of any other check: it takes hours.
mutants: ## how many plausible bugs the tests notice (MUTANTS='leases_*')
	@.ci/deps quick
	@set -f; tests/mutants/run.py --compiler $(quick_compiler) --jobs $(JOBS) \
	  $(MUTANTS)

format: ## format all sources
	@.ci/deps check
	@git ls-files -z '*.cpp' '*.hpp' | xargs -0 -r clang-format-14 -i

install: deps ## install library, headers and tool (PREFIX=/usr/local)
	@$(configure_build)
	@$(call compile,build,tertulia_rooms)
	@cmake --install build --prefix '$(PREFIX)'

clean: ## remove all build folders
	@rm -rf build build-asan build-check build-mutants build-quick
