"""The commands: one table, a thin module each with its options and its answer, the parser, the help and the output."""
