"""What a run costs: component library, ledger and the digital rivals."""
