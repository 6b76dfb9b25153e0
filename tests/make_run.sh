#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the README says of `make run`: from a pipe, each line has an answer and
# nothing else is printed; the next one goes on where the last one was. Takes
# what make takes, such as WERROR=ON.
set -euo pipefail
cd "$(dirname "$0")/.."

data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
export XDG_DATA_HOME=$data

fail() {
  printf 'make run: %s\n' "$*" >&2
  exit 1
}

before=$(git status --porcelain)
answers=$(printf 'Hello\nI am tired\n' | timeout 1200 make run "$@")
test "$(grep -c . <<<"$answers")" -eq 2 \
  || fail "there should be two answers: $answers"

tree=$(printf '/snapshots\n' | timeout 1200 make run "$@")
for said in Hello 'I am tired'; do
  grep -qF "“$said”" <<<"$tree" || fail "it has forgotten “$said”: $tree"
done

left=$(cd "$data" && find . -type f | sort | xargs)
test "$left" = './tertulia/chat.db' \
  || fail "there should be a store and nothing else: $left"
test "$(git status --porcelain)" = "$before" || fail 'it has left something here'
