"""Many models at once: every config and checkpoint header of a store, one row each, into Parquet.

``items`` finds them, ``rows`` and ``batch`` weigh them, ``shards`` cuts the work into parts that are written whole or not at
all, ``run`` does the parts on this machine or a cluster, ``query`` asks the result.
"""
