"""Facts about a language: name, scripts, family, and the models pretrained on it.

Names, scripts and families come from qwanqwa, a database of Glottolog, Wikidata, CLDR and others; the most common
script comes from CLDR through langcodes. The database takes seconds to load, so the facts used here are cached in
`isogloss/languages-….json` in the cache folder of the user.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import langcodes

from isogloss.core.files import atomic_write, cache_folder
from isogloss.core.registry import check_name
from isogloss.languages.codes import canonical
from isogloss.languages.pretrained import base_language, pretrained_in

MERGED_SCRIPTS = {"Hans": "Hani", "Hant": "Hani", "Kore": "Hang"}  # as `script_of` returns them
SKIPPED_BRANCHES = {"Classical Indo-European"}  # groups of Glottolog that are not branches in the usual sense
CACHE_FILE_VERSION = 2  # of the cached file: increase it when its content changes


@dataclass(frozen=True)
class Language:
    """One language. `scripts` begins with the most common; `lineage` goes from the family to the smallest group."""

    code: str
    name: str
    iso639_3: str
    scripts: tuple[str, ...]
    lineage: tuple[str, ...]

    @property
    def family(self) -> str:
        """The top-level family; an isolate is its own family."""
        return self.lineage[0] if self.lineage else self.name

    @property
    def branch(self) -> str:
        """The first-level branch of the family."""
        below = [group for group in self.lineage[1:] if group not in SKIPPED_BRANCHES]
        return below[0] if below else self.family

    @property
    def pretrained_in(self) -> frozenset[str]:
        return pretrained_in(self.code)


def language(code: str) -> Language:
    """The facts about a language by any of its codes: `language("uig").scripts` is `("Arab",)`."""
    by_code = languages()
    return by_code[check_name(base_language(code), by_code, "language")]


@cache
def languages() -> dict[str, Language]:
    """Every language with an ISO 639-3 code, by canonical code."""
    path = cache_folder() / f"languages-{CACHE_FILE_VERSION}-{version('qwanqwa')}-{version('langcodes')}.json"
    try:
        rows = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        rows = _gather()
        with contextlib.suppress(OSError), atomic_write(path) as file:
            json.dump(rows, file, ensure_ascii=False, separators=(",", ":"))
    return {code: Language(code, name, iso, tuple(scripts), tuple(line)) for code, name, iso, scripts, line in rows}


def _gather() -> list[tuple[str, str, str, list[str], list[str]]]:
    """One row per canonical code, from the database.

    A macro-language (`ar`) is often missing or near the root of the tree of the database: its lineage is that of the
    member that represents it in CLDR (`arb`).
    """
    import qq  # the import alone takes a second

    with_own_code: dict[str, Any] = {}
    macro_members: dict[str, Any] = {}
    for languoid in qq.Database.load().all_languoids:
        iso = languoid.iso_639_3
        if not iso:
            continue
        tag, macro_tag = langcodes.standardize_tag(iso), langcodes.standardize_tag(iso, macro=True)
        if tag == canonical(iso):
            with_own_code.setdefault(tag, languoid)
        if tag != macro_tag:
            macro_members.setdefault(macro_tag, languoid)
    rows = []
    for code in sorted({*with_own_code, *macro_members}):
        languoids = [languages[code] for languages in (with_own_code, macro_members) if code in languages]
        best, tree = languoids[0], max((languoid.family_tree for languoid in languoids), key=len)
        lineage = [group.name for group in reversed(tree)]
        rows.append((code, best.name_in("en") or best.name, best.iso_639_3, _scripts(code, best), lineage))
    return rows


def _scripts(code: str, languoid: Any) -> list[str]:
    usual = langcodes.Language.get(code).maximize().script
    further_scripts = [script.iso_15924 for script in languoid.canonical_scripts or []] or languoid.script_codes or []
    return list(dict.fromkeys(MERGED_SCRIPTS.get(script, script) for script in [usual, *further_scripts] if script))
