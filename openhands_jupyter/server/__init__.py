"""The REST API and the WebSocket, under Jupyter's own address, login and checks."""
