"""Commands of `segtrack reproduce`: published results and proofs, a module each, listed in `registry`.

A module has the command's `run`, whose parameters are its options, its table and its figure.
"""
