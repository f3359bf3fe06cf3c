"""Pictures, tables and pages of logs and of what came of them."""
