"""New post-LN, pre-LN and NormFormer networks of the family `isogloss`.

Importing this module registers the family with the Auto classes of transformers. `ig.load_model(folder)` does so;
before `AutoModel.from_pretrained(folder)`, run `import isogloss.models.normformer.create`.
A post-LN encoder is returned as a BERT of transformers, which loads anywhere.
"""

from __future__ import annotations

import torch
import transformers
from transformers import PreTrainedModel

from isogloss.core.seeds import derive_seed
from isogloss.models.normformer import heads as head_classes
from isogloss.models.normformer.bert_conversion import to_bert
from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.network import IsoglossModel


def new_model(config: IsoglossConfig, *, seed: int = 0) -> PreTrainedModel:
    """A causal or masked language model with random weights; a seed gives all schemes the same shared weights.

    >>> new_model(IsoglossConfig(norm="pre", vocab_size=50, hidden_size=12, num_hidden_layers=2)).config.norm
    'pre'
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "new model"))
        if config.causal:
            return head_classes.IsoglossForCausalLM(config)
        network = head_classes.IsoglossForMaskedLM(config)
        return to_bert(network) if config.norm == "post" else network


AUTO_CLASSES = {
    "AutoModel": IsoglossModel,
    "AutoModelForMaskedLM": head_classes.IsoglossForMaskedLM,
    "AutoModelForCausalLM": head_classes.IsoglossForCausalLM,
    "AutoModelForTokenClassification": head_classes.IsoglossForTokenClassification,
    "AutoModelForSequenceClassification": head_classes.IsoglossForSequenceClassification,
    "AutoModelForQuestionAnswering": head_classes.IsoglossForQuestionAnswering,
}
transformers.AutoConfig.register(IsoglossConfig.model_type, IsoglossConfig, exist_ok=True)
for _name, _network in AUTO_CLASSES.items():
    getattr(transformers, _name).register(IsoglossConfig, _network, exist_ok=True)
