"""The commands, a module for each kind. Each adds its parsers, and is called by what they read."""
