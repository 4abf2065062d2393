"""What a model would do, rightly and wrongly."""

from model_server.script import call

CODE = '''
import json
import sqlite3

shop = sqlite3.connect("file:shop.db?mode=ro", uri=True)
rows = shop.execute("""
    SELECT customers.name, sum(items.cents * items.quantity * (1 - items.returned))
    FROM customers
    JOIN orders ON orders.customer = customers.id
    JOIN items ON items.order_id = orders.id
    WHERE orders.day BETWEEN '2025-01-01' AND '2025-12-31' AND orders.status <> 'cancelled'
    GROUP BY customers.id ORDER BY 2 DESC LIMIT 3
""").fetchall()
with open("answer.json", "w") as file:
    json.dump([{"customer": name, "total": cents / 100} for name, cents in rows], file)
rows
'''

SCHEMA = """
import sqlite3

sqlite3.connect("shop.db").execute("SELECT sql FROM sqlite_master").fetchall()
"""
DONE = call("finish", message="Answered.")
RIGHT = [call("run_code", code=SCHEMA), call("run_code", code=CODE), DONE]
WRONG = [call("run_code", code=CODE.replace(" AND orders.status <> 'cancelled'", "")), DONE]
