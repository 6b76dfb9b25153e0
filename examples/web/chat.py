# SPDX-License-Identifier: BSD-3-Clause

"""Sends each line of standard input to the agent of `tertulia serve`, and
prints what it answers: `python3 chat.py http://127.0.0.1:8080`."""

import os
import sys

from conversation import Conversation

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
chat = Conversation(url, "session-flow/chat", os.environ.get("TOKEN", ""),
                    grace="PT1H")  # of the next line
for line in sys.stdin:
    text = {"text": line.rstrip("\n")}
    chat.send({"messages": [{"role": "user", "content": [text]}]})
    for chunk in chat.answer():
        for part in chunk.get("chunk", {}).get("content", []):
            print(part.get("text", ""), end="")
    print(flush=True)
chat.close()
