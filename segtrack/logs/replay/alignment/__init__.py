"""A log put into its terrain's frame, at the first touch of what rises there.

| module | what |
|---|---|
| `stance` | how a vehicle stands on level ground |
| `reach` | where its body is as it first touches an obstacle |
| `odometry`, `path` | what belts and positions of a log say of its way |
| `onset` | when a log shows the touch |
| `align` | the log, moved |
| `se3` | the other way: all six degrees of freedom, over the whole log |
"""
