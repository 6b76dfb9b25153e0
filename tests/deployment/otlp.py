# SPDX-License-Identifier: BSD-3-Clause

"""Holds the traces of `tertulia serve` against the published schema of OTLP
and the published names of attributes:

    otlp.py TERTULIA EXAMPLES
"""

import json
import signal
import sys
import time
import urllib.parse

import otlp_rules as rules
from deployment import (CHAT, Checks, Client, Collector, WebSocket, scratch,
                        serve, turn)

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
UNWANTED = "5bf92f3577b34da6a3ce929d0e0e4736"

# Known deviations from the conventions: each must be found, and nothing else.
# Spans have the names of Genkit, which are the keys of actions.
DEVIATIONS = {
    f"{name}: is not named {other}" for name, other in {
        "/model/eliza": "chat eliza",
        "/model/openai:stub": "chat stub",
        f"/{CHAT}": "invoke_agent chat",
        "/tool/ask_user": "execute_tool ask_user",
        "/tool/clock": "execute_tool clock",
        "/tool/dice": "execute_tool dice"}.items()}
# Attributes that the conventions require. The path of a request would tell
# what its client has chosen.
DEVIATIONS |= {
    f"{name}: lacks {attribute}" for attribute, names in {
        "url.path": ("GET /talk/{key}", "POST /actions/{key}"),
    }.items() for name in names}


def talk(client):
    """Makes spans of all kinds; the model is asked by HTTP."""
    client.say("Hello", traceparent=f"00-{TRACE}-{PARENT}-01",
               tracestate="a=b")
    client.say("Hello", traceparent=f"00-{UNWANTED}-{PARENT}-00")
    client.call("POST", f"/actions/{CHAT}", {"inputs": [turn("please fail")]})
    client.call("POST", f"/actions/{CHAT}", {"inputs": [{"messages": 5}]})
    client.call("POST", f"/actions/{CHAT}",
                {"session": "none", "snapshot": "none"})
    client.call("POST", "/actions/session-flow/none", {})
    client.say("é" + "\U0001F600" * 5_000)  # is cut within a character
    socket = WebSocket(client, f"/talk/{CHAT}")
    socket.tell(open={"inputs": [turn("Hello")], "close": True})
    list(socket.messages())


def talk_of_tools(client):
    """The model of the process uses a tool when it is told to."""
    for name in ("dice", "clock", "ask_user"):
        client.say(f"use the {name} tool")


def serve_and_talk(tool, folder, collector, script, **environment):
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
                 "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b",
                 "OTEL_SERVICE_NAME": "chat",
                 "OTEL_RESOURCE_ATTRIBUTES": "service.version=1.2",
                 **environment}
    options = ("--model", "openai:stub") if environment else ()
    folder.mkdir()
    with serve(tool, folder, *options, env=variables) as web:
        script(Client(urllib.parse.urlsplit(web.url).port))
        web.send_signal(signal.SIGTERM)
        code = web.wait(30)
        if code != 0:
            sys.exit(f"FAILED: the server has ended with {code}: "
                     f"{web.log.read_text()}")


def try_requests(checks, collector):
    for path, head, _ in collector.requests:
        found = (path, head["Content-Type"], head["x-key"])
        if found != ("/v1/traces", "application/json", "a b"):
            sys.exit(f"FAILED: a request: {found}")
    checks.hold("requests have their path, type and header fields")
    checks.true("what a busy collector has refused comes again",
                collector.requests[0][2] == collector.requests[1][2])


def document_of(trace, whole, spans):
    """Returns a document with the spans of one trace, that of the model
    first."""
    result = json.loads(json.dumps(whole))
    of = [x for x in spans if x["traceId"] == trace]
    of.sort(key=lambda x: not x["name"].startswith("/model/"))
    result["resourceSpans"][0]["scopeSpans"][0]["spans"] = of
    return result


def try_rules(checks, document):
    """Breaks a rule in each of these ways."""
    def changed(text, new):
        whole = json.dumps(document)
        assert text in whole, text
        return json.loads(whole.replace(text, new, 1))

    checks.equal("the rules let a good document pass",
                 set(breaches_in([document], 0, 1 << 63)) - DEVIATIONS, set())
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    for what, other in {
            "a member of another name": changed('"spanId"', '"span"'),
            "a member in the style of the schema": changed(
                '"startTimeUnixNano"', '"start_time_unix_nano"'),
            "a time as a number": changed(f'"{span["startTimeUnixNano"]}"',
                                          span["startTimeUnixNano"]),
            "a kind as a name": changed('"kind": 3',
                                        '"kind": "SPAN_KIND_CLIENT"'),
            "an id that is cut": changed(span["traceId"], span["traceId"][2:]),
            "an unpublished name": changed("gen_ai.usage.input_tokens",
                                           "gen_ai.usage.tokens_read"),
            "a retired name": changed("gen_ai.usage.input_tokens",
                                      "gen_ai.usage.prompt_tokens"),
            "an attribute twice": changed("gen_ai.usage.input_tokens",
                                          "gen_ai.usage.output_tokens"),
            "an unknown parent": changed(span["parentSpanId"],
                                         "0102030405060708")}.items():
        found = set(breaches_in([other], 0, 1 << 63)) - DEVIATIONS
        checks.true(f"the rules notice {what}", found)


def breaches_in(documents, earliest, latest):
    """Returns what breaks a rule, each once."""
    spans = []
    for document in documents:
        if broken := rules.breaches_of_schema(document):
            yield from broken
            continue  # its members may not be there
        for of in document["resourceSpans"]:
            yield from rules.breaches_of_resource(of["resource"])
            for scope in of["scopeSpans"]:
                if not scope["scope"].get("name"):
                    yield "scope: has no name"
                spans += scope["spans"]
    for span in spans:
        yield from rules.breaches_of_span(span, earliest, latest)
    yield from rules.breaches_of_parents(spans, {(TRACE, PARENT)})


def main(tool):
    checks = Checks()
    earliest = time.time_ns()
    with scratch() as folder, Collector() as collector:
        serve_and_talk(tool, folder / "far", collector, talk,
                       OPENAI_BASE_URL=f"{collector.url}/v1",
                       OPENAI_API_KEY="none")
        serve_and_talk(tool, folder / "near", collector, talk_of_tools)
        try_requests(checks, collector)
        spans = collector.spans()
        documents = collector.accepted()
    names = {x["name"] for x in spans}
    if "-v" in sys.argv:
        print(json.dumps(spans, indent=1, ensure_ascii=False))
    expected = {"POST /actions/{key}", "GET /talk/{key}", f"/{CHAT}",
                "sessionFlow/turn", "/model/openai:stub", "/model/eliza",
                "/tool/dice", "/tool/clock", "/tool/ask_user"}
    checks.true("there are spans of each kind", expected <= names, names)
    resource = rules.attributes_of(documents[0]["resourceSpans"][0]["resource"])
    checks.equal("the resource is that of the environment",
                 (resource["service.name"], resource["service.version"]),
                 ("chat", "1.2"))
    checks.true("a traceparent is the parent",
                [x for x in spans if x["traceId"] == TRACE
                 and x.get("parentSpanId") == PARENT])
    checks.equal("a tracestate is that of all spans of its trace",
                 {x.get("traceState") for x in spans
                  if x["traceId"] == TRACE}, {"a=b"})
    checks.true("what is not sampled is left out",
                not [x for x in spans if x["traceId"] == UNWANTED])
    try_rules(checks, document_of(TRACE, documents[0], spans))
    found = set(breaches_in(documents, earliest, time.time_ns()))
    for x in sorted(found - DEVIATIONS):
        print(f"BREACH: {x}")
    for x in sorted(DEVIATIONS - found):
        print(f"MENDED: {x}")
    checks.equal(f"{len(spans)} spans agree with the schema and the names, but "
                 f"for {len(DEVIATIONS)} known deviations", found, DEVIATIONS)
    checks.report()


main(sys.argv[1])
