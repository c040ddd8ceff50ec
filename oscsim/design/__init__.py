"""Grids of hardware numbers over families of checkpoints, and rules from them."""
