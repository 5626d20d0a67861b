"""Folders to write into: who may, one at a time, and how a whole model takes the place of another."""
