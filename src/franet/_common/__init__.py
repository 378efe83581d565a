"""What every package may use: files, progress, threads, checks of arguments."""
