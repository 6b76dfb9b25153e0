#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Attacks the server of a build folder over raw sockets (run.py). The fixed part
# takes less than 30 s; what follows the folder is passed on, such as
# --count 1000000 --long.
#
#   tests/attack/run.sh BUILD_FOLDER [OPTIONS]
set -euo pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"

if ! command -v python3 >/dev/null; then
  echo "Not attacked: that needs Python 3."
  exit 0
fi
# These are read by a build with sanitizers only.
asan=detect_leaks=1:detect_stack_use_after_return=1
export ASAN_OPTIONS=${ASAN_OPTIONS-$asan}
export LSAN_OPTIONS=${LSAN_OPTIONS-suppressions=$PWD/../../.ci/lsan.supp}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1:halt_on_error=1}
exec python3 -B run.py "$build/runtime/cli/tertulia" "$@"
