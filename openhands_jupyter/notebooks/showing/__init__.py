"""What a model is shown of a notebook: short, masked, and fenced as data."""
