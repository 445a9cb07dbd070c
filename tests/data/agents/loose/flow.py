"""A file that imports its neighbour relatively, in a folder that is no package."""

from .ink import builder

graph = builder.compile()
