"""Words of running text in any script: letters with combining marks, and inner apostrophes and hyphens.

`\\w` is not sufficient: in Python it does not match the vowel signs of Indic scripts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby

JOINERS = "['’ʼ\u200c\u200d-]"


@cache
def word_pattern() -> re.Pattern[str]:
    """
    >>> word_pattern().findall("Don't stop: 3 हिन्दी words, x-ray…")
    ["Don't", 'stop', 'हिन्दी', 'words', 'x-ray']
    """
    inside = [unicodedata.category(chr(code))[0] in "LM" for code in range(0x10000)]
    spans, start = [], 0
    for letter, run in groupby(inside):
        stop = start + sum(1 for _ in run)
        if letter:
            spans.append(f"{re.escape(chr(start))}-{re.escape(chr(stop - 1))}")
        start = stop
    letters = f"[{''.join(spans)}\U00020000-\U0003ffff]+"
    return re.compile(f"{letters}(?:{JOINERS}{letters})*")
