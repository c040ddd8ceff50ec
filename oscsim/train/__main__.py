"""Train the checkpoints that ship: ``python -m oscsim.train --help``."""

from oscsim.train.commands import main

if __name__ == "__main__":
    main()
