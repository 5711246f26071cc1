"""What the commands show: reports and JSON made from a model. They arrange numbers and compute none."""
