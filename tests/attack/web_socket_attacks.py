# SPDX-License-Identifier: BSD-3-Clause

"""Runs the table of WebSocket cases, and breaks handshakes."""

import json

from web_socket import (CLOSE, PING, PONG, TEXT, WebSocket, close_frame,
                        frame, message, upgrade)
from web_socket_cases import all_cases
from wire import Ended, Violation


def check_case(server, case):
    """Plays one case. Raises `Violation` if it ends otherwise."""
    with WebSocket(server.connect()) as at:
        at.send(case.data, case.chop)
        pongs, is_opened = [], False
        is_closing = False

        def has_all():
            return tuple(pongs) == case.pongs and is_opened == case.opened

        while True:
            if not case.codes and not is_closing and has_all():
                is_closing = True
                at.send(close_frame(1000))
            x = at.read()
            if x is None:
                break
            opcode, payload = x
            if opcode == PONG:
                pongs.append(payload)
            elif opcode == PING:
                raise Violation("an unexpected ping")
            elif opcode == TEXT:
                is_opened |= "opened" in json.loads(payload)
            elif opcode == CLOSE and not is_closing:
                is_closing = True
                at.send(frame(CLOSE, payload))
    expected = case.codes or (1000,)
    if at.close_code not in expected:
        raise Violation(f"closed with {at.close_code}, not with {expected}")
    if case.may_lack:
        if is_opened > case.opened or tuple(pongs) != case.pongs[:len(pongs)]:
            raise Violation(f"unexpected answers: {is_opened}, {pongs}")
    elif not has_all():
        raise Violation(f"opened: {is_opened}, not {case.opened}; pongs "
                        f"{pongs[:20]}, not {case.pongs[:20]}")


def check_round_trips(server, size):
    """Cases 9.7: sends 1 000 messages, each when the one before is answered.
    They are inputs that are refused, which has the size of an echo."""
    text = b'{"input":1}'.ljust(size)
    with WebSocket(server.connect()) as at:
        at.open(keep=False)
        for i in range(1_000):
            at.send(message(text))
            if "refused" not in (heard := at.read_json()):
                raise Violation(f"message {i} is answered with {heard}")
        at.send(close_frame(1000))
        if rest := at.read_to_end():
            raise Violation(f"{len(rest)} messages are sent too many")
    if at.close_code != 1000:
        raise Violation(f"closed with {at.close_code}, not with 1000")


def autobahn(server, campaign):
    """Cases of Autobahn's suite, and a few more."""
    for i, size in enumerate((0, 16, 64, 256, 1_024, 4_096), 1):
        campaign.attempt(f"WebSocket 9.7.{i}", lambda size=size:
                         check_round_trips(server, size))
    for case in all_cases():
        campaign.attempt(f"WebSocket {case.number}",
                         lambda case=case: check_case(server, case))


HANDSHAKES = [
    # Name, changes, status; RFC 6455, 4.2.1 and 4.2.2.
    ("without a key", {"Sec_WebSocket_Key": None}, 400),
    ("a key that is not base64", {"Sec_WebSocket_Key": "!" * 24}, 400),
    ("a key of 3 bytes", {"Sec_WebSocket_Key": "YWJj"}, 400),
    ("without a version", {"Sec_WebSocket_Version": None}, (400, 426)),
    ("version 8", {"Sec_WebSocket_Version": "8"}, 426),
    ("version 130", {"Sec_WebSocket_Version": "130"}, 426),
    ("without Upgrade", {"Upgrade": None}, (400, 426)),
    ("another Upgrade", {"Upgrade": "h2c"}, (400, 426)),
    ("without Connection", {"Connection": None}, (400, 426)),
    ("with POST", {"method": "POST"}, (400, 405, 426)),
    ("with HTTP/1.0", {"version": "1.0"}, (400, 426)),
    ("of an unknown action", {"target": "/talk/zz/none"}, 404),
    ("of no action", {"target": "/talk"}, 404),
]


def check_handshake(server, changes, expected):
    with server.connect() as at:
        at.send(upgrade(**changes))
        answer = at.read_answer()
        if isinstance(expected, int):
            expected = (expected,)
        if answer.status not in expected:
            raise Violation(f"answered with {answer.status}, not {expected}")
        if answer.status == 426 \
                and "Sec_WebSocket_Version" in changes \
                and answer.fields.get(b"sec-websocket-version") != b"13":
            raise Violation("426 does not name version 13")
        answer.check_error()


def check_offers(server):
    """The server takes a protocol that was offered, and no extension."""
    offers = {"Sec_WebSocket_Extensions":
              "permessage-deflate; client_max_window_bits",
              "Sec_WebSocket_Protocol": "tertulia.1"}
    with WebSocket(server.connect(), **offers) as at:
        if b"sec-websocket-extensions" in at.answer.fields:
            raise Violation("an extension is accepted: chapters 12 and 13 of "
                            "the suite are to be added")
        if at.answer.fields.get(b"sec-websocket-protocol") != b"tertulia.1":
            raise Violation("the protocol that was offered is not taken")
    other = {"Sec_WebSocket_Protocol": "not-tertulia.10"}
    with WebSocket(server.connect(), **other) as at:
        if b"sec-websocket-protocol" in at.answer.fields:
            raise Violation("a protocol is taken that was not offered")


def handshakes(server, campaign):
    """Handshakes that break the protocol."""
    for name, changes, expected in HANDSHAKES:
        campaign.attempt(f"handshake {name}",
                         lambda changes=changes, expected=expected:
                         check_handshake(server, changes, expected))
    campaign.attempt("handshake with offers", lambda: check_offers(server))


def drop(server, campaign):
    """WebSockets that end without a closing handshake."""
    for i in range(campaign.scale(100)):
        at = WebSocket(server.connect())
        if i % 3:
            at.open(keep=False)
        if i % 2:
            at.wire.reset()
        else:
            at.wire.half_close()
            try:
                while at.read() is not None:
                    pass
            except Ended:
                pass
            at.wire.close()
        campaign.attempts += 1
