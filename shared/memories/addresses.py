"""Addresses: which are this machine's own, and which may be trusted to carry a secret."""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Tell whether a host, by name or by address, is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_private(url: str) -> bool:
    """Tell whether nobody on the way to ``url`` can read or change what is sent."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
