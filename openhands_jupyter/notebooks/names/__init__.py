"""Which names the cells of a Python notebook give and take."""
