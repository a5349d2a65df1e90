"""The table of the documentation says what the indexes declare."""

from __future__ import annotations

import re
from pathlib import Path

from isogloss.indexes import INDEXES
from isogloss.indexes.index import MAPS

PAGE = (Path(__file__).parents[2] / "docs" / "indexes.md").read_text(encoding="utf-8")


def test_the_table_of_facts_is_up_to_date() -> None:
    table = re.search(r"<!-- facts -->\n(.*?)<!-- end of facts -->", PAGE, re.DOTALL)
    assert table
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table[1].strip().splitlines()]
    assert rows[0][3:] == list(MAPS)
    stated = {row[0].strip("`"): row[1:] for row in rows[2:]}
    assert set(stated) == set(INDEXES)
    for name, (bounds, symmetric, *maps) in stated.items():
        index = INDEXES[name]
        assert bounds == "{:g} … {:g}".format(*index.bounds)
        assert symmetric == ("yes" if index.symmetric else "no")
        said = [
            "yes" if m in index.invariances_per_side else "same on both sides" if m in index.joint_invariances else "no"
            for m in MAPS
        ]
        assert maps == said, name
