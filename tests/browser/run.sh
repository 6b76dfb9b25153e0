#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs run.mjs with Debian's chromium. The WebSocket client that drives it is
# among the packages of tests/genkit/run.sh, which runs before.
#
#   tests/browser/run.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"

browser=$(command -v chromium) || {
  echo "Not tried in a browser: that needs the package chromium."
  exit 0
}
if ! test -d "$build/genkit/node_modules/ws"; then
  echo "Not tried in a browser: run make test-genkit first."
  exit 0
fi
timeout 120 node run.mjs "$build/runtime/cli/tertulia" "$browser" \
  "$build/genkit/node_modules"
