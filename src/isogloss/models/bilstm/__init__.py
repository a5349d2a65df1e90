"""The baseline without pretraining: a BiLSTM over words and characters."""
