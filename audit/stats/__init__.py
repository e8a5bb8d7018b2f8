"""Statistics: arrays in, numbers out. Nothing here opens a store or knows a metric."""
