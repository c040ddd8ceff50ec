"""What makes a training the same bits again."""

import torch


def fix_randomness(seed: int) -> None:
    """Seed torch, and hold it to one thread and to deterministic algorithms.

    One machine and one version of torch then give the same bits for a seed.

    Parameters
    ----------
    seed : int
        Of initialisation, order and dropout.
    """
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
