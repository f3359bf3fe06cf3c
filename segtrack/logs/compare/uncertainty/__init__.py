"""How uncertain an error is: numerics, inputs, data; and statistics of series whose neighbours are alike.

| module | what |
|---|---|
| `bootstrap` | intervals by blocks, independent samples |
| `inputs`, `stated` | what of a simulation and a log is uncertain, as users state it |
| `data` | noise, clocks, bias and drift of a log |
| `validation` | all of it together, after ASME V&V 20 |
"""
