"""What a config says: fields declared once, read by key path, checked."""
