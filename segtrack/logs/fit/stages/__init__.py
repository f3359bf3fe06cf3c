"""Stages of a fit, each of which knows the simulations only by their residuals."""
