"""Why a number is what it is, and whether it is true."""
