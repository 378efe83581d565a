"""Run the command line by ``python -m franet``."""

from franet.cli import main

if __name__ == "__main__":
    main(prog_name="franet")
