#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts plausible bugs into a copy of the sources and looks which tests notice.

The files beside this one list the bugs, in paragraphs:

  source actors/action/leases.cpp      the source of those that follow

  mutant leases_are_deaf        its name
  was    tell(holder, taken);   what is there, exactly once; blanks and line
                                breaks do not count
  now    if (!MUTANT) tell(holder, taken);
                                what is there instead in the copy; MUTANT is
                                true when this one is switched on
  user   A take-over hangs.     what somebody would notice
  tests  leases.*:agent.*       a filter of GoogleTest: who should notice

In place of `user` and `tests`, `equal` says why nobody can notice. A line that
begins with a blank goes on with the one before.

All of them are built at once, and an environment variable chooses one. A test
that fails, a process that ends and a time limit that passes all count as
noticed. Exits with 1 if fewer than 95 % are, and with 2 if there is nothing to
count.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

from program import SWITCH, Program, Wrong, matches

LISTS = pathlib.Path(__file__).resolve().parent
ROOT = LISTS.parent.parent
SCRATCH = ROOT / "build-mutants"
TEST_FOLDERS = "messages", "stores", "actors", "runtime", "docs", "examples"
GOAL = 0.95
HEADER = f"""#pragma once

#include <cstdlib>

inline bool tertulia_mutant(long number) {{
  static const long chosen = [] {{
    const char* x = std::getenv("{SWITCH}");
    return x != nullptr ? std::atol(x) : 0;
  }}();
  return chosen == number;
}}
"""


# -- the list -----------------------------------------------------------------


@dataclasses.dataclass
class Mutant:
    where: str
    source: str
    name: str
    was: str = ""
    now: str = ""
    user: str = ""
    tests: str = ""
    equal: str = ""

    def number(self):
        """Stays the same whatever is added: little is compiled again."""
        return zlib.crc32(self.name.encode()) & 0x7FFFFFFF

    def place_in(self, text):
        """Finds the original, whatever its blanks and line breaks."""
        tokens = re.findall(r"\w+|\S", self.was)
        pattern = re.escape(tokens[0])
        for before, token in zip(tokens, tokens[1:]):
            both = before[-1:].isidentifier() and token[:1].isidentifier()
            pattern += (r"\s+" if both else r"\s*") + re.escape(token)
        if tokens[0].isidentifier():
            pattern = r"\b" + pattern
        if tokens[-1].isidentifier():
            pattern += r"\b"
        found = list(re.finditer(pattern, text))
        if len(found) != 1:
            raise Wrong(f"{self.where}: {self.name}: what it replaces is "
                        f"{len(found)} times in {self.source}: {self.was}")
        return found[0].span()


def read_list():
    result = []
    for path in sorted(LISTS.glob("*.txt")):
        source, last = None, None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.relative_to(ROOT)}:{number}"
            key, _, value = line.partition(" ")
            value = value.strip()
            if not line.strip():
                last = None
            elif not key and last:
                old = getattr(result[-1], last)
                setattr(result[-1], last, f"{old} {value}")
            elif key == "source":
                source = value
            elif key == "mutant" and source:
                result.append(Mutant(where, source, value))
            elif result and key in ("was", "now", "user", "tests", "equal"):
                setattr(result[-1], key, value)
                last = key
            else:
                raise Wrong(f"{where}: cannot be read")
    known = {}
    for x in result:
        if x.number() in known:
            raise Wrong(f"{x.where}: {x.name} is there twice")
        known[x.number()] = x
        if not x.was or "MUTANT" not in x.now or bool(x.equal) == bool(
                x.user and x.tests):
            raise Wrong(f"{x.where}: {x.name} lacks a line, or has one too many")
    return result


def apply_to(text, mutants):
    """Returns the source with all of them behind their switch."""
    places, wrong = [], []
    for x in mutants:
        try:
            places.append((x.place_in(text), x))
        except Wrong as error:
            wrong.append(str(error))
    result, end = [], 0
    for (first, last), x in sorted(places, key=lambda y: y[0]):
        if first < end:
            wrong.append(f"{x.where}: {x.name} overlaps another one")
        switch = f"::tertulia_mutant({x.number()})"
        result += [text[end:first], re.sub(r"\bMUTANT\b", switch, x.now)]
        end = last
    if wrong:
        raise Wrong("\n".join(wrong))
    return "".join(result) + text[end:]


def apply_all(mutants):
    """Returns the changed sources by their names."""
    result, wrong = {}, []
    for source in sorted({x.source for x in mutants}):
        here = [x for x in mutants if x.source == source]
        try:
            text = (ROOT / source).read_text()
            result[source] = (f'#include "{SCRATCH}/source/mutant.hpp"\n'
                              + apply_to(text, here))
        except OSError as error:
            wrong.append(f"{here[0].where}: {source}: {error.strerror}")
        except Wrong as error:
            wrong.append(str(error))
    if wrong:
        raise Wrong("\n".join(wrong))
    return result


def names_of_tests():
    """Reads the names of all tests, as GoogleTest has them, from their sources.
    One with parameters is there once for each prefix."""
    text = "".join(x.read_text() for room in (ROOT / "tests", ROOT / "stores")
                   for x in sorted(room.rglob("*.cpp")))
    prefixes = {}
    for prefix, suite in re.findall(
            r"INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", text):
        prefixes.setdefault(suite, []).append(prefix)
    result = []
    for suite, test in re.findall(
            r"\b(?:TEST(?:_F|_P)?|RC_GTEST_(?:FIXTURE_)?PROP)"
            r"\(\s*(\w+),\s*(\w+)", text):
        result += ([f"{x}/{suite}.{test}/0" for x in prefixes[suite]]
                   if suite in prefixes else [f"{suite}.{test}"])
    return result


def check_tests(mutants):
    names = names_of_tests()
    wrong = [f"{x.where}: {x.name}: there is no test {y}" for x in mutants
             if not x.equal for y in x.tests.split(":")
             if not any(matches(name, y) for name in names)]
    if wrong:
        raise Wrong("\n".join(wrong))


# -- the copy -----------------------------------------------------------------


def write_if_new(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_sources(to, changed, test_files):
    """Copies the working tree, and touches only what is no longer the same."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True).stdout.decode()
    wanted = {to / "mutant.hpp"}
    write_if_new(to / "mutant.hpp", HEADER.encode())
    for name in filter(None, listed.split("\0")):
        path = pathlib.Path(name)
        is_test = path.parts[0] == "tests" and path.parts[1] in TEST_FOLDERS \
            and path.suffix == ".cpp"
        if not (ROOT / path).is_file() or (
                is_test and test_files and path.stem not in test_files):
            continue
        wanted.add(to / path)
        content = (changed[name].encode() if name in changed
                   else (ROOT / path).read_bytes())
        write_if_new(to / path, content)
        shutil.copymode(ROOT / path, to / path)
    for path in to.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()


def build(options):
    source, to = SCRATCH / "source", SCRATCH / "build"
    tool = not options.tests or any(x.startswith("tool")
                                    for x in options.tests)
    configure = ["cmake", "-S", source, "-B", to,
                 f"-DCMAKE_CXX_COMPILER={options.compiler}",
                 "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_CXX_FLAGS=-w", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
                 "-DCMAKE_UNITY_BUILD=ON",
                 "-DTERTULIA_BENCH=OFF", "-DTERTULIA_EXAMPLES=OFF",
                 f"-DTERTULIA_TOOL={'ON' if tool else 'OFF'}"]
    if not (to / "CMakeCache.txt").exists() and shutil.which("ninja"):
        configure.append("-GNinja")
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", to, "--parallel", str(options.jobs),
                    "--target", "tertulia_tests"], check=True)
    return to / "tests" / "tertulia_tests"


# -- the whole ----------------------------------------------------------------


def say(text):
    print(text, flush=True)


def run(mutants, chosen, options):
    copy_sources(SCRATCH / "source", apply_all(mutants), options.tests)
    program = Program(build(options), options.jobs)
    killed, survived, equal = [], [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            program.check_without_a_bug(pool, pathlib.Path(folder))
        say(f"without a bug {len(program.seconds)} tests pass"
            f" in {time.monotonic() - begin:.0f} s")

        left = []
        running = {pool.submit(program.notice, x): x
                   for x in chosen if not x.equal}
        for n, done in enumerate(concurrent.futures.as_completed(running), 1):
            x, noticed = running[done], done.result()
            say(f"[{n}/{len(running)}] {x.name}: "
                + (f"killed by {noticed}" if noticed else "not yet"))
            (killed.append((x, noticed)) if noticed else left.append(x))
        for x in left + [x for x in chosen if x.equal]:
            noticed = program.notice_at_all(x, pool)
            say(f"[all tests] {x.name}: "
                + (f"killed by {noticed}" if noticed else "survives"))
            if noticed:
                killed.append((x, noticed + (
                    ", though nobody could notice" if x.equal
                    else ", which it does not name")))
            else:
                (equal if x.equal else survived).append(x)

    say("\nkilled")
    for x, noticed in sorted(killed, key=lambda y: y[0].name):
        say(f"  {x.name:<50} {noticed}")
    say("\nsurvived")
    for x in sorted(survived, key=lambda y: y.name):
        say(f"  {x.name:<50} {x.user}")
    say("\nequivalent")
    for x in sorted(equal, key=lambda y: y.name):
        say(f"  {x.name:<50} {x.equal}")
    all_of_them = len(killed) + len(survived)
    score = len(killed) / all_of_them if all_of_them else 1.0
    say(f"\n{len(killed)} of {all_of_them} killed, {100 * score:.1f} %;"
        f" {len(equal)} equivalent")
    return 0 if score >= GOAL else 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mutants", nargs="*", metavar="NAME",
                        help="only those of such names, such as 'leases_*'")
    parser.add_argument("--check", action="store_true",
                        help="only look whether each of them still applies, "
                             "and whether its tests exist")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tests", type=str.split, default=[],
                        help="build and run only test files of such names")
    options = parser.parse_args()
    try:
        mutants = read_list()
        apply_all(mutants)
        check_tests(mutants)
        chosen = [x for x in mutants if not options.mutants or any(
            fnmatch.fnmatchcase(x.name, y) for y in options.mutants)]
        if not chosen:
            raise Wrong("there are no such mutants")
        if options.check:
            say(f"{len(mutants)} mutants apply")
            return 0
        return run(mutants, chosen, options)
    except (Wrong, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
