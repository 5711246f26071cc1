"""State-space, recurrent and linear-attention language models, and hybrids of these with attention."""
