"""Imported relatively by the graph beside it."""

import os

import book

COLOR = os.environ["COLOR"]
SHELF = os.environ["SHELF"]
TITLE = book.TITLE
