"""Thousands of vehicles of one file at once, each on its own ground: arrays in, arrays out."""

from segtrack.batch.batch import Batch
from segtrack.batch.readings import BatchContacts, BatchState, BatchTracks, JointStates

__all__ = ["Batch", "BatchContacts", "BatchState", "BatchTracks", "JointStates"]
