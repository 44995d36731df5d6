"""Where records are kept: one port, and the stores behind it."""
