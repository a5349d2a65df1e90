"""What is known about a language: name, scripts, family, and the models that saw it.

Names, scripts and families come from qwanqwa (Glottolog, Wikidata, CLDR and others in one database), the
usual script first from CLDR through langcodes. The database takes seconds to load, so the few facts used
here are written once to `isogloss/languages-….json` in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import langcodes

from isogloss.core.files import atomic_write
from isogloss.core.registry import check_name
from isogloss.languages.codes import canonical
from isogloss.languages.pretrained import base_language, pretrained_in

FOLDED = {"Hans": "Hani", "Hant": "Hani", "Kore": "Hang"}  # as `script_of` tells them
UMBRELLAS = {"Classical Indo-European"}  # steps of Glottolog's tree that no one means by "branch"
EDITION = 1  # of the cached file: raise it when what is gathered changes


@dataclass(frozen=True)
class Language:
    """One language. `scripts` has the usual one first; `lineage` runs from the family down to the nearest group."""

    code: str
    name: str
    iso639_3: str
    scripts: tuple[str, ...]
    lineage: tuple[str, ...]

    @property
    def family(self) -> str:
        """The top-level family; a language without known relatives is its own."""
        return self.lineage[0] if self.lineage else self.name

    @property
    def branch(self) -> str:
        """The first division of the family that the language belongs to."""
        below = [group for group in self.lineage[1:] if group not in UMBRELLAS]
        return below[0] if below else self.family

    @property
    def pretrained_in(self) -> frozenset[str]:
        return pretrained_in(self.code)


def language(code: str) -> Language:
    """The facts about a language, by any of its codes: `language("uig").scripts` is `("Arab",)`."""
    known = languages()
    return known[check_name(base_language(code), known, "language")]


@cache
def languages() -> dict[str, Language]:
    """Every language with an ISO 639-3 code, by canonical code."""
    path = cache_folder() / f"languages-{EDITION}-{version('qwanqwa')}-{version('langcodes')}.json"
    try:
        rows = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        rows = _gather()
        with contextlib.suppress(OSError), atomic_write(path) as file:
            json.dump(rows, file, ensure_ascii=False, separators=(",", ":"))
    return {code: Language(code, name, iso, tuple(scripts), tuple(line)) for code, name, iso, scripts, line in rows}


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/isogloss`, or `~/.cache/isogloss`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isogloss"


def _gather() -> list[tuple[str, str, str, list[str], list[str]]]:
    """A row per canonical code, from the database.

    A macro-language (`ar`) often stands outside or high up in the database's tree: its place is that of the
    member which CLDR lets stand for it (`arb`).
    """
    import qq  # loads for a second even before its database does

    own: dict[str, Any] = {}
    member: dict[str, Any] = {}
    for languoid in qq.Database.load().all_languoids:
        iso = languoid.iso_639_3
        if iso:
            code = canonical(iso)
            (own if langcodes.standardize_tag(iso) == code else member).setdefault(code, languoid)
    rows = []
    for code in sorted({*own, *member}):
        found = [languages[code] for languages in (own, member) if code in languages]
        best, tree = found[0], max((languoid.family_tree for languoid in found), key=len)
        lineage = [group.name for group in reversed(tree)]
        rows.append((code, best.name_in("en") or best.name, best.iso_639_3, _scripts(code, best), lineage))
    return rows


def _scripts(code: str, languoid: Any) -> list[str]:
    usual = langcodes.Language.get(code).maximize().script
    others = [script.iso_15924 for script in languoid.canonical_scripts or []] or languoid.script_codes or []
    return list(dict.fromkeys(FOLDED.get(script, script) for script in [usual, *others] if script))
