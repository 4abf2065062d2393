"""Running a notebook from top to bottom, from nothing, and telling what differs."""
