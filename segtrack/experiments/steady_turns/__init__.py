"""Turns at steady rates: oracle, cases, and the recorded turns of a real vehicle."""
