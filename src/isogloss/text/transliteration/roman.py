"""Any script → Latin with `uroman` (Hermjakob et al. 2018): the extra `isogloss[roman]`.

The first use loads tables, which takes some seconds. Words are romanised without context and cached.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from isogloss.core.registry import import_extra
from isogloss.text.transliteration.scheme import Rule, Scheme

# words with a character that is neither Latin nor punctuation; Latin words do not change
WORD = re.compile(r"\S*[^\x00-\u024f\u1e00-\u1eff\u2000-\u206f\s]\S*")


@lru_cache(maxsize=1 << 17)
def romanised(word: str) -> str:
    return str(_uroman().romanize_string(word)).replace(" ", "")


@cache
def _uroman() -> Any:
    return import_extra("uroman", "roman").Uroman()


SCHEME = Scheme("uroman", "any script → Latin (isogloss[roman])", (Rule(WORD, lambda match: romanised(match[0])),))
