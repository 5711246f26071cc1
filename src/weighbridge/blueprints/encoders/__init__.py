"""BERT and the text encoders after it."""
