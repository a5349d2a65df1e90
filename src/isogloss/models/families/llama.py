"""Llama and the decoders with the same layout: Mistral, Qwen and Gemma."""

from dataclasses import replace

from isogloss.models.families.family import AdapterSites, Family

# BOS is left to the tokenizer: models of this architecture differ in whether they were trained with it; Qwen has none.
LLAMA = Family(
    blocks="layers",
    final_norm="norm",
    embeddings="embed_tokens",
    causal=True,
    attention=("self_attn",),
    feed_forward=("mlp",),
    norms=("input_layernorm", "post_attention_layernorm"),
    adapters=AdapterSites("self_attn", "mlp"),
    packs_texts=True,
)
PROJECTIONS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
QUERY_KEY_NORMS = ("self_attn.q_norm", "self_attn.k_norm")
QWEN3 = replace(LLAMA, attention=PROJECTIONS, norms=(*LLAMA.norms, *QUERY_KEY_NORMS))
GEMMA = replace(
    LLAMA,
    norms=(*LLAMA.norms, "pre_feedforward_layernorm", "post_feedforward_layernorm"),
    adapters=AdapterSites("post_attention_layernorm", "post_feedforward_layernorm"),
    prepend_bos=True,
    packs_texts=False,  # half of its layers attend locally
)
GEMMA3 = replace(GEMMA, attention=PROJECTIONS, norms=(*GEMMA.norms, *QUERY_KEY_NORMS))
