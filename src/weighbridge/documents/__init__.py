"""What is shown: documents, the tables in them, and the renderers that write them."""
