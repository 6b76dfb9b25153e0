# SPDX-License-Identifier: BSD-3-Clause

"""Rules for what an exporter of traces sends, as OTLP over HTTP with JSON: the
schema is that of the package opentelemetry-proto, and the names of attributes
are those of opentelemetry-semantic-conventions. Each function returns what
breaks a rule, in words without ids and times."""

import ast
import base64
import pathlib

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest)
from opentelemetry.semconv._incubating import attributes
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import (
    GenAiOperationNameValues)

IDS = ("traceId", "spanId", "parentSpanId")
INTERNAL, SERVER, CLIENT = 1, 2, 3
FAILED = 2
KINDS = {"chat": (CLIENT, INTERNAL), "execute_tool": (INTERNAL,),
         "invoke_agent": (CLIENT, INTERNAL)}

# Attributes that the conventions require.
RESOURCE = ("service.name", "telemetry.sdk.name", "telemetry.sdk.language",
            "telemetry.sdk.version")
REQUEST = ("http.request.method", "http.route", "url.path", "url.scheme")
GENAI = {"chat": ("gen_ai.provider.name", "gen_ai.request.model"),
         "execute_tool": ("gen_ai.tool.name",),
         "invoke_agent": ("gen_ai.provider.name", "gen_ai.agent.name")}


def read_conventions():
    """Returns the names of attributes, and those that have been retired. The
    names for generative AI have moved elsewhere, which does not retire them."""
    names, retired = set(), set()
    for folder in attributes.__path__:
        for file in pathlib.Path(folder).glob("*_attributes.py"):
            body = ast.parse(file.read_text()).body
            for x, after in zip(body, [*body[1:], None]):
                if not isinstance(x, ast.AnnAssign):
                    continue
                name = ast.literal_eval(x.value)
                names.add(name)
                text = after.value.value if isinstance(after, ast.Expr) else ""
                if "Deprecated: " in text and "Deprecated: Moved" not in text:
                    retired.add(name)
    return names, retired


NAMES, RETIRED = read_conventions()
SPACES = {x.partition(".")[0] for x in NAMES}
OPERATIONS = {x.value for x in GenAiOperationNameValues}


def with_schema_ids(x):
    """Returns a document with ids as the schema has them: OTLP writes those in
    hexadecimal digits and not in base64."""
    if isinstance(x, list):
        return [with_schema_ids(y) for y in x]
    if not isinstance(x, dict):
        return x
    return {key: base64.b64encode(bytes.fromhex(y)).decode() if key in IDS
            else with_schema_ids(y) for key, y in x.items()}


def breaches_of_schema(document):
    """Unknown members, and everything that a reader of the schema would write
    in another way: numbers of 64 bits are texts, and enumerations numbers."""
    document = with_schema_ids(document)
    try:
        read = json_format.ParseDict(document, ExportTraceServiceRequest())
    except json_format.ParseError as x:
        return [f"schema: {x}"]
    written = json_format.MessageToDict(read, use_integers_for_enums=True)
    return list(differences(document, written, ""))


def differences(sent, written, at):
    """Compares documents; the schema leaves out empty lists."""
    if isinstance(sent, dict) and isinstance(written, dict):
        for key in sorted(sent.keys() | written.keys()):
            if sent.get(key) != [] or key in written:
                yield from differences(sent.get(key), written.get(key),
                                       f"{at}.{key}")
    elif isinstance(sent, list) and isinstance(written, list):
        for x, y in zip(sent, written, strict=True):
            yield from differences(x, y, at)
    elif type(sent) is not type(written) or sent != written:
        yield f"{at.lstrip('.')}: {sent!r} should be {written!r}"


def attributes_of(x):
    """Returns the attributes with their values, texts for numbers."""
    return {y["key"]: next(iter(y["value"].values()), None)
            for y in x.get("attributes", ())}


def breaches_of_names(x, of):
    keys = [y["key"] for y in x.get("attributes", ())]
    for key in sorted(set(keys)):
        if not key:
            yield f"{of}: an attribute has no name"
        elif keys.count(key) > 1:
            yield f"{of}: {key} is there twice"
        elif key in RETIRED:
            yield f"{of}: {key} is retired"
        elif key.partition(".")[0] in SPACES and key not in NAMES:
            yield f"{of}: {key} is not among the published names"


def lacks(of, found, required):
    return [f"{of}: lacks {x}" for x in required if not found.get(x)]


def breaches_of_resource(resource):
    return [*breaches_of_names(resource, "resource"),
            *lacks("resource", attributes_of(resource), RESOURCE)]


def breaches_of_request(span, found, of):
    if span["kind"] != SERVER:
        yield f"{of}: kind {span['kind']} is not that of a server"
    code = int(found.get("http.response.status_code", 0))
    if (code >= 500) != (span.get("status", {}).get("code") == FAILED):
        yield f"{of}: its status does not fit {code}"
    expected = f"{found.get('http.request.method')} {found.get('http.route')}"
    if span["name"] != expected:
        yield f"{of}: is not named {expected}"
    yield from lacks(of, found, REQUEST)


def breaches_of_genai(span, found, of):
    operation = found["gen_ai.operation.name"]
    if operation not in OPERATIONS:
        yield f"{of}: {operation} is not a published operation"
    if span["kind"] not in KINDS.get(operation, ()):
        yield f"{of}: kind {span['kind']} does not fit {operation}"
    yield from lacks(of, found, GENAI.get(operation, ()))
    target = found.get("gen_ai.request.model" if operation == "chat" else
                       "gen_ai.tool.name" if operation == "execute_tool" else
                       "gen_ai.agent.name")
    if span["name"] != f"{operation} {target}":
        yield f"{of}: is not named {operation} {target}"


def breaches_of_span(span, earliest, latest):
    """Breaches of one span. Times are in nanoseconds."""
    found = attributes_of(span)
    of = span.get("name") or "a span without a name"
    yield from breaches_of_names(span, of)
    for key, size in zip(IDS, (16, 8, 8)):
        value = span.get(key, "")
        if value and (len(value) != 2 * size or int(value, 16) == 0
                      or value != value.lower()):
            yield f"{of}: {key} is not an id of {size} bytes"
        elif not value and key != "parentSpanId":
            yield f"{of}: lacks {key}"
    start, end = (int(span[f"{x}TimeUnixNano"]) for x in ("start", "end"))
    if not earliest <= start <= end <= latest:
        yield f"{of}: its times are not in order"
    for event in span.get("events", ()):
        yield from breaches_of_names(event, f"{of}: event {event['name']}")
        if not start <= int(event["timeUnixNano"]) <= end:
            yield f"{of}: event {event['name']} is not within its time"
    if not INTERNAL <= span.get("kind", 0) <= 5:
        yield f"{of}: has no kind"
    status = span.get("status", {})
    if status.get("message") and status.get("code") != FAILED:
        yield f"{of}: has a message without an error"
    if status.get("code") == FAILED and "error.type" not in found:
        yield f"{of}: lacks error.type"
    if "http.route" in found:
        yield from breaches_of_request(span, found, of)
    elif "gen_ai.operation.name" in found:
        yield from breaches_of_genai(span, found, of)
    elif any(x.startswith("gen_ai.") for x in found) \
            and span["name"] != "sessionFlow/turn":
        yield f"{of}: lacks gen_ai.operation.name"


def breaches_of_parents(spans, of_callers):
    """Parents that nobody has sent, and children outside their time. A run may
    go on when its request has been answered."""
    known = {(x["traceId"], x["spanId"]): x for x in spans}
    if len(known) != len(spans):
        yield "two spans have the same id"
    for x in spans:
        place = (x["traceId"], x.get("parentSpanId"))
        if not place[1] or place in of_callers:
            continue
        parent = known.get(place)
        if parent is None:
            yield f"{x['name']}: its parent is not known"
            continue
        start, end = (int(x[f"{y}TimeUnixNano"]) for y in ("start", "end"))
        if start < int(parent["startTimeUnixNano"]):
            yield f"{x['name']}: begins before {parent['name']}"
        if end > int(parent["endTimeUnixNano"]) and parent["kind"] != SERVER:
            yield f"{x['name']}: ends behind {parent['name']}"
