"""What a running process needs: threads, Ctrl-C, available memory, warnings, and the sizes that tests change."""
