"""Read a text: files, lines, tokens, expressions, sizes and tables. Nothing here knows a model."""
