"""Tables as text: CSV, TSV and TUM, with what can be kept of damaged ones.

| module | what |
|---|---|
| `form` | what separates a table's columns, what they are called, where its rows begin |
| `rows` | the numbers of its rows, and which of them are none |
| `table` | a table as a `Log` |
"""
