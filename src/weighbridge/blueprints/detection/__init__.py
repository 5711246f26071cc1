"""Object detection and segmentation."""
