"""Normalising and matching text. Pure functions, one rule for both stores."""

import re
import unicodedata
from collections.abc import Iterable

# U+001F is a C0 control, which no stored text may hold: a match cannot span it.
SEPARATOR = "\x1f"

_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f"
_SPACES = r"\t\n\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

PLAIN = f"^[^{_CONTROLS}]*$"
"""What a text that may be stored matches, lone surrogates aside, in the dialect of JSON schemas."""

PLAIN_NOT_BLANK = f"^[^{_CONTROLS}]*[^{_CONTROLS}{_SPACES}][^{_CONTROLS}]*$"
"""The same of a text that is more than white space."""

_FORBIDDEN = re.compile(f"[{_CONTROLS}\ud800-\udfff]")


def fold(text: str) -> str:
    """Return the form in which texts are compared: NFC, case-folded, NFC again.

    Case folding can leave a sequence that is no longer composed, hence the second pass.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def search_text(content: str, tags: Iterable[str]) -> str:
    """Return what ``q`` is looked for in: the folded content and tags, kept apart."""
    return SEPARATOR.join((fold(content), *map(fold, tags)))


def is_blank(text: str) -> bool:
    return not text.strip()


def forbidden_character(text: str) -> str | None:
    """Name the first character that no text may hold (``U+0000``), or None.

    Those are the C0 controls but tab, line feed and carriage return, and lone surrogates.
    """
    found = _FORBIDDEN.search(text)
    return f"U+{ord(found.group()):04X}" if found else None
