"""Vision transformers, convolutional networks, depth, keypoints."""
