"""A folder of finished work shared by studies and processes: entries, locks, running jobs, garbage collection."""
