"""Taking edits of notebooks back."""
