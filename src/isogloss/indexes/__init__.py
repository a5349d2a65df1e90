"""Similarity indexes: two parallel sets of vectors → a number. One file each; the list below is all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isogloss.core.registry import Registry

if TYPE_CHECKING:  # listing the names loads no torch
    from isogloss.indexes.index import Index

INDEXES: Registry[Index] = Registry(
    "index",
    {
        "cka": "isogloss.indexes.cka:INDEX",
        "rbf_cka": "isogloss.indexes.rbf_cka:INDEX",
        "debiased_cka": "isogloss.indexes.debiased_cka:INDEX",
        "cca": "isogloss.indexes.cca:INDEX",
        "svcca": "isogloss.indexes.svcca:INDEX",
        "pwcca": "isogloss.indexes.pwcca:INDEX",
        "anc": "isogloss.indexes.anc:INDEX",
        "signed_anc": "isogloss.indexes.anc:SIGNED",
        "matching": "isogloss.indexes.matching:INDEX",
        "procrustes": "isogloss.indexes.procrustes:INDEX",
        "separation": "isogloss.indexes.distances:INDEX",
    },
)
