"""Models of text with images, video or audio."""
