"""A process that draws: one chart per line of JSON in; out, the lengths of SVG and PDF and the two, or an error.

It is run as a script, so that it starts without the rest of Velado: the drawing package works under Python's lock, and
a process of its own draws while the release is being measured.
"""

import json
import signal
import struct
import sys

FAILED = 0xFFFFFFFF


def main() -> None:
    """Draw until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import vl_convert

    # The first chart takes half a second; nobody waits for this one.
    vl_convert.vegalite_to_svg({"mark": "bar", "data": {"values": []}})
    for line in sys.stdin.buffer:
        wanted = json.loads(line)
        try:
            svg = vl_convert.vegalite_to_svg(wanted["spec"], format_locale=wanted["locale"])
            parts = [svg.encode(), vl_convert.svg_to_pdf(svg) if wanted["pdf"] else b""]
            head = struct.pack(">II", *map(len, parts))
        except Exception as error:
            parts = [str(error).encode()]
            head = struct.pack(">II", FAILED, len(parts[0]))
        sys.stdout.buffer.write(b"".join((head, *parts)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
