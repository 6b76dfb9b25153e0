# SPDX-License-Identifier: BSD-3-Clause

"""Valid and invalid UTF-8, by the numbers 6.5 to 6.23 of Autobahn's suite,
which takes them from Markus Kuhn's decoder test. Whether a text is valid is
asked of Python, whose decoder is the strict one of RFC 3629."""


def joined(first, last):
    return b"".join(bytes([x, 0x20]) for x in range(first, last))


def surrogate(x):
    return chr(x).encode("utf-8", "surrogatepass")


KOSME = "\u03ba\u1f79\u03c3\u03bc\u03b5".encode()

# Sequences whose last byte is missing.
CUT_OFF = [b"\xc0", b"\xe0\x80", b"\xf0\x80\x80", b"\xf8\x80\x80\x80",
           b"\xfc\x80\x80\x80\x80", b"\xdf", b"\xef\xbf", b"\xf7\xbf\xbf",
           b"\xfb\xbf\xbf\xbf", b"\xfd\xbf\xbf\xbf\xbf"]

CHAPTERS = {
    5: [*(f"hello{x}world".encode() for x in "$\u00a2\u20ac\U00024b62"),
        KOSME],
    6: [KOSME[:size] for size in range(1, len(KOSME) + 1)],
    7: [chr(x).encode() for x in (0, 0x80, 0x800, 0x10000)],
    8: [b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80"],
    9: [chr(x).encode() for x in (0x7f, 0x7ff, 0xffff, 0x10ffff)],
    10: [b"\xf7\xbf\xbf\xbf", b"\xfb\xbf\xbf\xbf\xbf",
         b"\xfd\xbf\xbf\xbf\xbf\xbf"],
    11: [*(chr(x).encode() for x in (0xd7ff, 0xe000, 0xfffd, 0x10ffff)),
         b"\xf4\x90\x80\x80"],
    12: [b"\x80", b"\xbf", *((b"\x80\xbf" * 3)[:size] for size in range(2, 7)),
         bytes(range(0x80, 0xbf))],
    13: [joined(*x) for x in ((0xc0, 0xdf), (0xe0, 0xef), (0xf0, 0xf7),
                              (0xf8, 0xfb), (0xfc, 0xfd))],
    14: CUT_OFF,
    15: [b"".join(CUT_OFF)],
    16: [b"\xfe", b"\xff", b"\xfe\xfe\xff\xff"],
    17: [b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf",
         b"\xf8\x80\x80\x80\xaf", b"\xfc\x80\x80\x80\x80\xaf"],
    18: [b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xf0\x8f\xbf\xbf",
         b"\xf8\x87\xbf\xbf\xbf", b"\xfc\x83\xbf\xbf\xbf\xbf"],
    19: [b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80",
         b"\xf8\x80\x80\x80\x80", b"\xfc\x80\x80\x80\x80\x80"],
    20: [surrogate(x) for x in (0xd800, 0xdb7f, 0xdb80, 0xdbff, 0xdc00, 0xdf80,
                                0xdfff)],
    21: [surrogate(high) + surrogate(low)
         for high in (0xd800, 0xdb7f, 0xdb80, 0xdbff)
         for low in (0xdc00, 0xdfff)],
    # Code points without a character, which are valid.
    22: [chr(plane << 16 | x).encode() for plane in range(17)
         for x in (0xfffe, 0xffff)],
    23: [chr(x).encode() for x in range(0xfff9, 0x10000)],
}


def is_valid(payload):
    try:
        payload.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


UTF8_CASES = [(f"6.{chapter}.{i}", payload, is_valid(payload))
              for chapter, payloads in CHAPTERS.items()
              for i, payload in enumerate(payloads, 1)]
