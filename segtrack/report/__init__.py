"""Results as people want them: tables, figures and files, and in `logs` reports of logs."""
