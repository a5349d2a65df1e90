"""ModernBERT."""

from isogloss.models.families.family import AdapterSites, Family

MODERNBERT = Family(
    blocks="layers",
    final_norm="final_norm",
    embeddings="embeddings",
    attention=("attn",),
    feed_forward=("mlp",),
    norms=("attn_norm", "mlp_norm"),
    adapters=AdapterSites("attn", "mlp"),
)
