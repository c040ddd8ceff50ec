"""``python -m oscsim``: the command line."""

from oscsim.cli import main

if __name__ == "__main__":
    main()
