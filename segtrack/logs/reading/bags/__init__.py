"""Bags of ROS 1 and ROS 2, and MCAP: messages in the order of their file, as channels of numbers.

| module | what |
|---|---|
| `bag` | which file is read how; a bag as a `Log` |
| `folder` | the files of a ROS 2 bag, and what its metadata say of them |
| `files` | the messages that are in a file, by its kind, damaged or not |
| `content` | messages by topic, turned into numbers as they come |
| `messages` | the numbers that are in messages, by their type |
"""
