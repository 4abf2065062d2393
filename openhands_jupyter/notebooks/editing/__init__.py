"""What an agent asks to be changed in a notebook, planned and made."""
