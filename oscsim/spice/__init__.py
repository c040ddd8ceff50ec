"""The electrical realisation: netlists run in ngspice and checked."""
