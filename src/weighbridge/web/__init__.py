"""The page and its API: ``weigh serve``. It asks the library and computes nothing itself."""
