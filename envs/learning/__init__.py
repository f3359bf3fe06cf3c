"""Learning and measuring: curricula, training, policies, their evaluation, speed of environments."""
