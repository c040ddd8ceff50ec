"""Imperfect hardware between a coupling and the state that is read."""
