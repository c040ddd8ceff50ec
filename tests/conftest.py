"""One hypothesis profile: the same examples on every run, however slow the JIT."""

from hypothesis import settings

settings.register_profile("oscsim", deadline=None, derandomize=True)
settings.load_profile("oscsim")
