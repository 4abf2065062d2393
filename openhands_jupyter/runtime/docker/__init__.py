"""The docker backend: agentd as the main process of a container of its own.

Importing its modules does not import the Docker SDK, which takes too long for the event loop.
"""
