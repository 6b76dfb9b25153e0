#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Compares examples/genkit_agents with Genkit's published server, for Genkit's
# published clients and for its tools (run.mjs), drives it by Genkit's command
# line (cli.mjs), and checks what it says of itself (openapi.mjs). The packages
# are those of package-lock.json. With --record it only records the answers of
# both servers anew.
#
#   tests/genkit/run.sh BUILD_FOLDER [--record] [PATTERN]
set -euo pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
source=$PWD

version=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/') || true
if ((${version:-0} < 20)) || ! command -v npm >/dev/null; then
  echo "Not compared with Genkit: that needs Node 20 or newer, and npm."
  exit 0
fi

folder=$build/genkit
mkdir -p "$folder"
cp ./*.mjs ./*.cjs ./*.json "$folder"
cd "$folder"
if ! cmp -s package-lock.json node_modules/.installed-lock; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error \
    --fetch-retries=5
  cp package-lock.json node_modules/.installed-lock
fi
steps=(openapi run cli)
if [[ ${1:-} == --record ]]; then
  steps=(run)
  trap 'cp table.json equal_answers.json "$source"' EXIT
fi
for step in "${steps[@]}"; do
  node $step.mjs "$build/examples/genkit_agents" "$@" 2>errors.log || {
    tail -n 20 errors.log >&2
    exit 1
  }
done
