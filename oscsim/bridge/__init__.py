"""From a checkpoint file to a run on the substrate and its comparison."""
