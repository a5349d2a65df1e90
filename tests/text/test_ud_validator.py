"""Treebanks after each text change pass the official UD validator (structure and spaces: its level 2)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shared_data import shared

from isogloss import code_switch, noise, read_lexicon, read_treebank, reorder, transliterate

CHANGES = {
    "transliterate": ("Uyghur-UDT/ug_udt-ud-dev", transliterate),
    "buckwalter": ("Arabic-PUD/ar_pud-ud-test", transliterate),
    "noise": ("English-PUD/en_pud-ud-test", lambda bank: noise(bank, 0.3)),
    "reorder": ("Spanish-PUD/es_pud-ud-test", lambda bank: reorder(bank, "OVS")),
    "code-switch": (
        "English-PUD/en_pud-ud-test",
        lambda bank: code_switch(bank, read_lexicon(shared("data/lexicons/eng-spa.tsv.xz")), 1.0),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_treebank_is_valid(change: str, tmp_path: Path) -> None:
    validator = shutil.which("udvalidate", path=Path(sys.executable).parent)
    if validator is None:
        pytest.skip("the validator (udtools) is not installed")
    name, function = CHANGES[change]
    function(read_treebank(shared(f"data/ud/UD_{name}.conllu.xz"))).write(tmp_path / "new.conllu")
    command = [validator, "--lang", "ud", "--level", "2", "--max-err", "0", str(tmp_path / "new.conllu")]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "*** PASSED ***" in told.stdout + told.stderr
