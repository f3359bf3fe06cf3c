"""Tables of trials: outcomes of climbs beside simulated ones, and the limits of both."""
