#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Tries the recipes for `tertulia serve` with the programs of other projects:
# examples/deployment/nginx.conf (nginx.py) and prometheus.yml (prometheus.py),
# and the traces with the published schema of OTLP (otlp.py).
#
#   tests/deployment/run.sh BUILD_FOLDER [RECIPE…]
set -euo pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1 PATH=$PATH:/usr/sbin
tool=$build/runtime/cli/tertulia
(($#)) || set -- nginx prometheus otlp

# try RECIPE PYTHON
try() {
  timeout 120 "$2" "$1.py" "$tool" ../../examples
}

# has COMMAND PACKAGE
has() {
  command -v "$1" >/dev/null || {
    echo "Not tried: that needs the package $2."
    return 1
  }
}

try_nginx() {
  has nginx nginx-light && has openssl openssl || return 0
  try nginx python3
}

try_prometheus() {
  has prometheus prometheus && has promtool prometheus || return 0
  try prometheus python3
}

try_otlp() {
  python3 -c 'import ensurepip, venv' 2>/dev/null || {
    echo "Not tried: that needs the package python3-venv."
    return 0
  }
  local folder=$build/deployment/venv
  if ! cmp -s requirements.txt "$folder/.installed"; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
      --retries 5 --only-binary :all: --require-hashes -r requirements.txt
    cp requirements.txt "$folder/.installed"
  fi
  try otlp "$folder/bin/python"
}

for recipe; do
  echo "$recipe:"
  "try_$recipe"
done
