"""Tools of the person's own: servers of the Model Context Protocol, their life and their tools."""
