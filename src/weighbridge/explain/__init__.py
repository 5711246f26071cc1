"""Why a number is what it is: closed formulas and derivations."""
