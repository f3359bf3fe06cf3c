"""MATLAB's .mat files, versions 4 to 7.2, with what can be kept of damaged ones.

| module | what |
|---|---|
| `variables` | the variables of a file, each read on its own |
| `elements` | a variable, as far as there is one |
| `mat` | vectors, matrices and structs as a `Log` |
"""
