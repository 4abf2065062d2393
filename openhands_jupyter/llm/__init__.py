"""Language models: what they are to the program, the model gateway, and the guided tour."""
