"""Tables of steady turns, a row each: mapped, simulated, compared and fitted."""
