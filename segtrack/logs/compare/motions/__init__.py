"""Two motions beside each other: one clock, one frame, the same phases and numbers of both.

| module | what |
|---|---|
| `sampling` | a motion on an even clock, its slip, turns and displacements |
| `phases` | of a climb |
| `responses` | what is compared of a motion, over time |
| `numbers` | of both and of their phases, from what both have |
| `alignment` | a simulated path laid onto a logged one |
| `errors` | simulated less logged |
| `beside` | both with their errors, statistics and uncertainties |
"""
