"""Speech and audio: recognition, codecs, vocoders, generation."""
