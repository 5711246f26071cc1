"""The scripts that make the corpus are no tests; some need libraries that the tests do not."""

collect_ignore_glob = ["*"]
