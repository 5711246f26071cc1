"""Allowed Host headers: requests from a foreign name that resolves to this server (DNS rebinding) are refused.

An address of digits cannot be made to point elsewhere, so any is taken; a name must be known. (What this stops is DNS rebinding.)
"""

from __future__ import annotations

import ipaddress

LOCAL = ("localhost",)


def is_loopback(host: str) -> bool:
    """Tell whether a server that listens on *host* is reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    address = _address(host)
    return address.is_loopback if address is not None else host.lower() in LOCAL


def is_trusted(host: str, names: tuple[str, ...]) -> bool:
    """Tell whether a Host header names this server.

    Args:
        host: The header's value, with or without a port.
        names: The names that are known; ``*`` stands for any, ``*.example.org`` for all below a name.

    >>> [is_trusted(host, ("weigh.example.org",)) for host in ("127.0.0.1:8080", "[::1]", "weigh.example.org", "evil.example")]
    [True, True, True, False]
    """
    if "*" in names:
        return True
    name, _, port = host.rpartition(":") if ":" in host.rpartition("]")[2] else (host, "", "")
    if port and not (port.isascii() and port.isdecimal()):
        return False
    if name.startswith("[") and name.endswith("]"):
        return _address(name[1:-1]) is not None
    plain = name.lower().removesuffix(".")
    if _address(plain) is not None or plain in LOCAL or plain.endswith(".localhost"):
        return True
    return any(plain == known.lower() or (known.startswith("*.") and plain.endswith(known[1:].lower())) for known in names)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
