"""Logs as tables of residuals, and their simulations: many at a time, none of them twice."""
