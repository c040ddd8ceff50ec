"""Noise and time stepping."""
