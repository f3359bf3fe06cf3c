"""One idea each; every demo runs without a window with --headless."""
