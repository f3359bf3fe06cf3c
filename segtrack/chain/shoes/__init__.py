"""A chain's shoes: what they are, how they move, their joints, and the stages of their sub-step."""
