#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Follows a page in an empty folder and compares its output with the page.

A marker in front of a code block of the page tells what to do with it:

  <!-- write NAME -->  writes the block into a file
  <!-- run -->         runs each line that begins with "$ ". If lines follow it,
                       they are its standard output; "…" stands for any text
                       within a line, and for any lines if it stands alone
  <!-- start -->       starts the only command of the block as another terminal
                       would, and waits for its first lines of output, or for
                       its port if the page shows none. Its input ends when the
                       page ends

The port of the page is replaced by one that is free. Exits with 1 if anything
differs, and with 2 if the page cannot be read.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

LONGEST_COMMAND = 240  # seconds


class Differs(Exception):
    """The page promises something else."""


def read_steps(page):
    """Yields (what, argument, lines) for each marked block."""
    lines = iter(page.read_text().splitlines())
    for line in lines:
        found = re.fullmatch(r"<!-- (write|run|start)(?: (\S+))? -->", line)
        if not found:
            continue
        if not next(lines, "").startswith("```"):
            sys.exit(f"{page}: no code block follows {line}")
        block = []
        for text in lines:
            if text == "```":
                break
            block.append(text)
        yield found[1], found[2], block


def commands_of(block):
    """Returns the commands of a block, each with its expected output."""
    result = []
    for line in block:
        if line.startswith("$ "):
            result.append((line[2:], []))
        elif result and result[-1][0].endswith("\\"):
            result[-1] = (result[-1][0] + "\n" + line, [])
        else:
            result[-1][1].append(line)
    return result


def pattern_of(expected):
    lines = [r"(?:.*\n)*" if x == "…"
             else ".*".join(map(re.escape, x.split("…"))) + r"\n"
             for x in expected]
    return "".join(lines)


def compare(command, expected, output):
    if output and not output.endswith("\n"):
        output += "\n"  # of its last line, which some programs leave out
    if expected and not re.fullmatch(pattern_of(expected), output):
        difference = "\n".join(difflib.unified_diff(
            expected, output.splitlines(), "page", "output", lineterm=""))
        raise Differs(f"$ {command}\n{difference}")


def run(command, expected, folder, env):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command],
                          cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=LONGEST_COMMAND)
    if done.returncode != 0:
        raise Differs(f"$ {command}\nexits with {done.returncode}:\n"
                      f"{done.stdout}")
    compare(command, expected, done.stdout)


def wait_for(port, child):
    """Waits until a program listens."""
    end = time.monotonic() + LONGEST_COMMAND
    while child.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            # A socket may also reach itself.
            if (probe.connect_ex(("127.0.0.1", int(port))) == 0
                    and probe.getsockname() != probe.getpeername()):
                return
        time.sleep(0.01)
    raise Differs(f"nothing listens at port {port}")


def start(command, expected, folder, env, port):
    child = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder,
                             env=env, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    output = "".join(child.stdout.readline() for _ in expected)
    compare(command, expected, output)
    if not expected:
        wait_for(port, child)
    return child


def follow(page, folder, env, port):
    started = []
    free = free_port()
    try:
        for what, name, block in read_steps(page):
            block = [x.replace(port, free) for x in block]
            if what == "write":
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(block) + "\n")
            elif what == "run":
                for command, expected in commands_of(block):
                    run(command, expected, folder, env)
            else:
                (command, expected), = commands_of(block)
                started.append((command, start(command, expected, folder, env,
                                                free)))
        for command, child in started:
            child.stdin.close()
            if child.wait(60) != 0:
                raise Differs(f"$ {command}\nexits with {child.returncode}")
    finally:
        for _, child in started:
            child.kill()
            child.wait()
            child.stdout.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path,
                        help="folder that is erased and used")
    parser.add_argument("--port", required=True, help="port of the page")
    parser.add_argument("--install",
                        help="build folder of this project, to be installed")
    parser.add_argument("--program", type=pathlib.Path,
                        help="program that the folder has")
    parser.add_argument("--compiler", default="c++")
    options = parser.parse_args()
    shutil.rmtree(options.scratch, ignore_errors=True)
    folder = options.scratch / "guide"
    folder.mkdir(parents=True)
    prefix = options.scratch.resolve() / "prefix"
    if options.install:
        subprocess.run(["cmake", "--install", options.install, "--prefix",
                        prefix], check=True, stdout=subprocess.DEVNULL)
    if options.program:
        (folder / options.program.name).symlink_to(options.program.resolve())
    env = dict(os.environ, NO_PROXY="localhost", no_proxy="localhost",
               CMAKE_PREFIX_PATH=str(prefix),
               CXX=options.compiler,
               PATH=f"{prefix}/bin{os.pathsep}{os.environ['PATH']}")
    try:
        follow(options.page, folder, env, options.port)
    except Differs as difference:
        print(difference)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
