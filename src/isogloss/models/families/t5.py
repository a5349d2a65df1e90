"""The encoders of T5 and mT5."""

from dataclasses import replace

from isogloss.models.families.family import AdapterSites, Family

T5_ENCODER = Family(
    blocks="encoder.block",
    final_norm="encoder.final_layer_norm",
    embeddings="shared",
    attention=("layer.0.SelfAttention",),
    feed_forward=("layer.1.DenseReluDense",),
    norms=("layer.0.layer_norm", "layer.1.layer_norm"),
    adapters=AdapterSites("layer.0.dropout", "layer.1.dropout"),
    max_length=512,
    encoder_decoder=True,
)
MT5_ENCODER = replace(T5_ENCODER, max_length=1024)
