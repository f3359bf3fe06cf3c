"""The simulation in a process of its own, paced to the clock.

`orders` is what the two processes say to each other, `exchange` what they share, `safety` what a command
becomes before it reaches the belts, `drive` what a tick does, `loop` when ticks are, and `process` the web
process's hold on all of it.
"""
