"""The ways to a notebook: the browser tab that has it open, its shared room, its file."""
