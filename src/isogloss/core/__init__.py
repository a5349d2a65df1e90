"""What every other room stands on: errors, files, names, seeds. Imports nothing of ours."""
