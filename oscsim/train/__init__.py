"""Torch modules, training loops and data generators (optional extra)."""
