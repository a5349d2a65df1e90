"""XGLM."""

from isogloss.models.families.family import AdapterSites, Family

XGLM = Family(
    blocks="layers",
    final_norm="layer_norm",
    embeddings="embed_tokens",
    causal=True,
    attention=("self_attn",),
    feed_forward=("fc1", "fc2"),
    norms=("self_attn_layer_norm", "final_layer_norm"),
    adapters=AdapterSites("self_attn", "fc2"),
    packs_texts=True,
)
