"""How a name looks: two texts that look alike have the same skeleton, whatever their letters are.

A name in letters of another alphabet, in full-width or mathematical ones must not begin a new
history in a ledger, under which everything could be released anew. The idea is that of the Unicode
Technical Standard 39: compatible characters are replaced by plain ones, and letters of other
alphabets by the Latin ones that they look like. Hashes of ids rest on it, so what is listed here
stays as it is: a change is a new version of ledgers.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_ALIKE = {
    "CYRILLIC CAPITAL LETTER": "A:A VE:B IE:E DZE:S BYELORUSSIAN-UKRAINIAN_I:I JE:J KA:K EM:M EN:H "
    "O:O ER:P ES:C TE:T U:Y HA:X STRAIGHT_U:Y IZHITSA:V QA:Q WE:W SOFT_SIGN:b",
    "CYRILLIC SMALL LETTER": "A:a IE:e DZE:s BYELORUSSIAN-UKRAINIAN_I:i JE:j KA:k O:o ER:p ES:c "
    "U:y HA:x STRAIGHT_U:y IZHITSA:v QA:q WE:w SHHA:h KOMI_DE:d GHE:r SOFT_SIGN:b PALOCHKA:l",
    "CYRILLIC LETTER": "PALOCHKA:l",
    "GREEK CAPITAL LETTER": "ALPHA:A BETA:B EPSILON:E ZETA:Z ETA:H IOTA:I KAPPA:K MU:M NU:N "
    "OMICRON:O RHO:P TAU:T UPSILON:Y CHI:X YOT:J",
    "GREEK SMALL LETTER": "ALPHA:a GAMMA:y ETA:n IOTA:i KAPPA:k NU:v OMICRON:o RHO:p UPSILON:u "
    "CHI:x",
    "GREEK LETTER": "YOT:j",
    "ARMENIAN CAPITAL LETTER": "OH:O SEH:U TIWN:S",
    "ARMENIAN SMALL LETTER": "OH:o SEH:u VO:n HO:h CO:g ZA:q YI:j",
    "CHEROKEE LETTER": "A:D E:R GO:A GV:E I:T LA:W LU:M YV:B DO:V DU:S TLI:C NAH:G MI:H GU:J TSO:K "
    "TLE:L TLV:P NO:Z",
    "COPTIC CAPITAL LETTER": "O:O RO:P HATE:H EIE:E KAPA:K NI:N TAU:T UA:Y KHI:X",
    "COPTIC SMALL LETTER": "O:o SIMA:c",
    "LISU LETTER": "A:A BA:B CA:C DA:D E:E TSA:F GA:G XA:H I:I JA:J KA:K LA:L MA:M NA:N O:O PA:P "
    "ZHA:R SA:S TA:T U:U HA:V WA:W SHA:X YA:Y DZA:Z",
    "LATIN SMALL LETTER": "ALPHA:a SCRIPT_G:g DOTLESS_I:i DOTLESS_J:j IOTA:i V_WITH_HOOK:v",
    "LATIN LETTER SMALL CAPITAL": "B:b C:c G:g H:h I:i J:j K:k L:l M:m N:n O:o P:p R:r S:s T:t U:u "
    "V:v W:w Y:y Z:z",
}
"""Letters by their Unicode names, and the Latin ones that they look like."""

_LOOK = {"0": "o", "1": "l", "|": "l", "I": "l"}
"""What else is mistaken in a name; ids are made of such characters on purpose."""

_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Fillers and selectors of variants: printable by the book, and not to be seen."""

_WORDS = re.compile(r"[^\W\d_]+")
_WHOLE = re.compile(r"^([+-]?[0-9]+)\.0+$")
_TOGETHER = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL"})
"""Scripts that are written together within a word."""


@cache
def _letters() -> dict[int, str]:
    found = {}
    for kind, letters in _ALIKE.items():
        for pair in letters.split():
            name, look = pair.split(":")
            found[ord(unicodedata.lookup(f"{kind} {name.replace('_', ' ')}"))] = look
    return found


def id_skeleton(text: str) -> str:
    """Return how an id looks; one of ASCII alone is itself, but for a whole number with decimals.

    >>> id_skeleton("\\u0430nn") == id_skeleton("\\uff41nn") == "ann"
    True
    >>> id_skeleton("Ann"), id_skeleton("l1"), id_skeleton("7.0")
    ('Ann', 'l1', '7')
    """
    if not text.isascii():
        plain = _BLANK.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFKC", plain.translate(_letters())).strip()
    return _WHOLE.sub(r"\1", text)


def name_skeletons(text: str) -> frozenset[str]:
    """Return how a name looks, in whatever case of letters.

    >>> bool(name_skeletons("SALARY") & name_skeletons("sa1\\u0430ry"))
    True
    """
    plain = unicodedata.normalize("NFKC", text)
    ways = (plain, plain.casefold(), plain.upper())
    return frozenset(
        "".join(_LOOK.get(letter, letter) for letter in id_skeleton(way)).casefold() for way in ways
    )


def is_visible(text: str) -> bool:
    """Tell whether every character of a text can be seen; a blank counts as seen.

    >>> is_visible("a b"), is_visible("a\\u200bb"), is_visible("a\\ufe0f")
    (True, False, False)
    """
    return text.isprintable() and not _BLANK.search(text)


def mixed_scripts(text: str) -> tuple[str, ...]:
    """Return the scripts of a word that mixes some that are not written together; or nothing.

    >>> mixed_scripts("s\\u0430lary"), mixed_scripts("\\u043e\\u043a 2 go")
    (('CYRILLIC', 'LATIN'), ())
    """
    for word in _WORDS.findall(unicodedata.normalize("NFKC", text)):
        scripts = {unicodedata.name(letter, "?").split()[0] for letter in word}
        if len(scripts) > 1 and not scripts <= _TOGETHER:
            return tuple(sorted(scripts))
    return ()
