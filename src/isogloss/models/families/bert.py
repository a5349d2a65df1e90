"""BERT, and the two sizes of architecture of XLM-R."""

from dataclasses import replace

from isogloss.models.families.family import AdapterSites, Family

BERT = Family(
    blocks="encoder.layer",
    final_norm=None,
    embeddings="embeddings",
    attention=("attention.self", "attention.output.dense"),
    feed_forward=("intermediate", "output.dense"),
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
    adapters=AdapterSites("attention.output.dropout", "output.dropout", "output.LayerNorm"),
    packs_texts=True,
    stackable=True,
)
XLM_R = replace(BERT, positions_after_padding=True)
XLM_R_XL = Family(
    blocks="encoder.layer",
    final_norm="encoder.LayerNorm",
    embeddings="embeddings",
    attention=("attention.self", "attention.output"),
    feed_forward=("intermediate", "output"),
    norms=("attention.self_attn_layer_norm", "LayerNorm"),
    adapters=AdapterSites("attention.output.dropout", "output.dense"),
    positions_after_padding=True,
    packs_texts=True,
)
