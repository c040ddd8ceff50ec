"""Digital layers in numpy; every oscillator step goes through one call."""
