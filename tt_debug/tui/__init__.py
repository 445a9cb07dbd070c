"""The terminal interface: the only package that imports textual."""
