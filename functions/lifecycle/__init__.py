"""The function on a schedule, which keeps the collection healthy."""
