"""Imports: the files of this service and of others, read into the lines that it takes."""
