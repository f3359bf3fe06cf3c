"""The report on a log: what it says, and how it comes out.

| module | what |
|---|---|
| `content` | what it says |
| `gather` | all of it from a comparison |
| `maturity` | the level that the evidence earns |
| `output` | one HTML page, and JSON |
| `report_table` | the same for the terminal |
| `side_figure`, `error_figure` | pictures of the page |
"""
