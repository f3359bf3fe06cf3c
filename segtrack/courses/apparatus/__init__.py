"""Apparatus of courses: each its settings, and the solids that it is built of.

| module | what |
|---|---|
| `base` | what every apparatus offers, and the numbers that can be the setting |
| `shapes` | solids in the frame of a piece |
| `plain` | flat, step, ramp, stairs, gap, bed |
| `hurdles` | beams and pipes across, K-rails, confined space |
| `tilted` | fields of ramps: continuous and crossing |
| `posts` | step field |
| `upright` | walls and doorways |

The frame of a piece has its origin in the middle of its entrance on the ground, x forward, z up.
"""
