"""Sub-circuits of unit vectors in any dimension, as circuits/lohe_sphere_*.cir."""


def sphere(d: int) -> str:
    """Return a unit vector: ``dz/dt = h - (z.h) z + z (1 - |z|^2)``.

    Parameters
    ----------
    d : int
        Number of components; ports z0.., then h0...
    """
    lines = [f".subckt sphere {_ports('z', d)} {_ports('h', d)}"]
    for node, factor in (("dot", "h"), ("norm", "z")):
        terms = "+".join(f"V(z{k})*V({factor}{k})" for k in range(d))
        lines.append(f"B{node} {node} 0 V={terms}")
    for k in range(d):
        pull = f"V(h{k})-V(z{k})*V(dot)+V(z{k})*(1-V(norm))"
        lines += [f"Cz{k} z{k} 0 1", f"Bz{k} 0 z{k} I={pull}"]
    return "\n".join([*lines, ".ends"])


def weight(d: int) -> str:
    """Return a weight as resistors 1/w between an anchor and a drive.

    Parameters
    ----------
    d : int
        Number of components; ports r0.., then h0...
    """
    lines = [f".subckt weight {_ports('r', d)} {_ports('h', d)} w=1"]
    lines += [f"R{k} r{k} h{k} {{1/w}}" for k in range(d)]
    return "\n".join([*lines, ".ends"])


def bond(d: int) -> str:
    """Return a coupling of either sign as controlled sources.

    Parameters
    ----------
    d : int
        Number of components; ports: z of the one that acts, h of the other.
    """
    lines = [f".subckt bond {_ports('z', d)} {_ports('h', d)} k=0"]
    lines += [f"G{k} 0 h{k} z{k} 0 {{k}}" for k in range(d)]
    return "\n".join([*lines, ".ends"])


def rail(d: int) -> str:
    """Return the 1 ohm in which the currents of a drive add up to volts.

    Parameters
    ----------
    d : int
        Number of components; ports h0...
    """
    lines = [f".subckt rail {_ports('h', d)}"]
    lines += [f"R{k} h{k} 0 1" for k in range(d)]
    return "\n".join([*lines, ".ends"])


def drive(d: int) -> str:
    """Return a constant drive as currents f0, f1...

    Parameters
    ----------
    d : int
        Number of components; ports h0...
    """
    defaults = " ".join(f"f{k}=0" for k in range(d))
    lines = [f".subckt drive {_ports('h', d)} {defaults}"]
    lines += [f"I{k} 0 h{k} {{f{k}}}" for k in range(d)]
    return "\n".join([*lines, ".ends"])


def turn() -> str:
    """Return a rotation: ``dz_a = w z_b``, ``dz_b = -w z_a``; ports a, b."""
    return ".subckt turn a b w=0\nGa 0 a b 0 {w}\nGb 0 b a 0 {-w}\n.ends"


def _ports(letter: str, d: int) -> str:
    return " ".join(f"{letter}{k}" for k in range(d))
