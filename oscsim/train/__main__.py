"""Train the checkpoints that ship: ``python -m oscsim.train --help``."""

import sys

try:
    from oscsim.train.commands import main
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    sys.stderr.write("training needs torch: pip install 'oscsim[torch]'\n")
    sys.exit(2)

if __name__ == "__main__":
    main()
