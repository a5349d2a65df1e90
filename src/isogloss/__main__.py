"""`python -m isogloss`."""

from isogloss.cli.main import run

if __name__ == "__main__":
    run()
