"""Pictures, tables and pages of logs and of what came of them; the HTML report is in `output`."""
