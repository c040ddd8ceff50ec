"""How oscillators move: vector fields, exact flows and stationary laws."""
