"""Hypothesis for machines that others use too: no deadline, and the same examples in every run.

`pytest --hypothesis-profile=thorough` looks further.
"""

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")
