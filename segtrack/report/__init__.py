"""Results as people want them: tables, files, figures and videos."""
