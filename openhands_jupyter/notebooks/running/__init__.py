"""Running cells in the notebooks' own kernels."""
