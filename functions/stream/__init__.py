"""The function behind the table's stream, which writes the access log."""
