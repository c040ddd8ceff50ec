"""Trained oscillator networks on real, imperfect oscillators."""

__version__ = "0.1.0"
