"""Notebooks as people have them open: what an agent sees of them and may change in them."""
