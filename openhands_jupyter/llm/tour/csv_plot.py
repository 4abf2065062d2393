"""Task of the tour: load a CSV file and plot it, with whatever the sandbox has for that."""

from __future__ import annotations

import re

from .conversation import Result
from .script import Call, Reply, Script, block, call, finish, inline, reply, setback

SAMPLE_FILE = "sample.csv"
SAMPLE = """\
month,average,warmest
Jan,1.2,9.5
Feb,2.1,11.8
Mar,5.6,17.0
Apr,9.8,22.4
May,14.3,27.1
Jun,17.6,30.2
Jul,19.5,32.8
Aug,19.1,32.0
Sep,15.0,27.3
Oct,10.4,21.5
Nov,5.3,14.6
Dec,2.2,10.3
"""
LISTING = "find . -maxdepth 3 -type f -iname '*.csv' -not -path '*/.*' | sort | head -n 50"

PLOT_CODE = """\
path = {path!r}

try:
    import pandas as pd
except ImportError:
    import csv

    with open(path, newline="", encoding="utf-8-sig") as file:
        header, *rows = [row for row in csv.reader(file) if row]
    columns = dict(zip(header, map(list, zip(*rows))))
else:
    table = pd.read_csv(path)
    columns = {{str(name): table[name].tolist() for name in table}}
    display(table.head())


def as_numbers(values):
    try:
        return [float(value) for value in values]
    except ValueError:
        return []


numbers = {{name: found for name, values in columns.items() if (found := as_numbers(values))}}
labels = next((values for name, values in columns.items() if name not in numbers), None)
size = len(next(iter(columns.values()), []))
print(f"Read {{path}}: {{size}} rows; columns: {{', '.join(columns)}}.")

try:
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib is not installed here, so this is a chart in text:")
    for name, values in numbers.items():
        print(name)
        longest = max(map(abs, values)) or 1
        for index, value in enumerate(values[:20]):
            label = str(labels[index] if labels else index + 1)
            print(f"  {{label[:12]:12}} {{value:10.4g}} {{'#' * round(abs(value) / longest * 40)}}")
else:
    figure, axes = plt.subplots(figsize=(7, 4))
    for name, values in numbers.items():
        axes.plot(values, marker=".", label=name)
    if labels and size <= 30:
        axes.set_xticks(range(size), labels, rotation=45)
    axes.set_title(path)
    if numbers:
        axes.legend()
    plt.show()
    print(f"Plotted: {{', '.join(numbers) or 'nothing, no column holds only numbers'}}.")
"""

TABLE_CODE = """\
import csv

with open({path!r}, newline="", encoding="utf-8", errors="replace") as file:
    rows = list(csv.reader(file))
for row in rows[:21]:
    print(" | ".join(cell[:16].ljust(16) for cell in row))
print(f"{{max(len(rows) - 1, 0)}} rows in all.")
"""

_CSV_NAME = re.compile(r"(?<![\w./-])[\w./-]+\.csv\b", re.IGNORECASE)
_FACT = re.compile(r"^(Read .+: \d+ rows; columns: .*|Plotted: .*)$", re.MULTILINE)
_NO_MATPLOTLIB = "matplotlib is not installed"


def load_and_plot(request: str) -> Script:
    """Find a CSV file or make one, plot it, and say what was seen."""
    (listing,) = yield reply(
        "I look for CSV files first.",
        call("execute_bash", command=LISTING, security_risk="low"),
    )
    if problem := setback(listing, "the search for CSV files"):
        return finish(problem)
    path = _choose(listing, request)
    if not path:
        path = SAMPLE_FILE
        (written,) = yield reply(
            f"There is no CSV file here, so I make a small sample, `{SAMPLE_FILE}`: "
            "invented temperatures of twelve months.",
            call("write_file", path=SAMPLE_FILE, content=SAMPLE, security_risk="low"),
        )
        if problem := setback(written, f"writing `{SAMPLE_FILE}`"):
            return finish(problem)

    (plotted,) = yield reply(f"I load {inline(path)} and plot it.", _cell(PLOT_CODE, path))
    if plotted.outcome == "done" and plotted.raised:
        error = _last_line(plotted)
        (table,) = yield reply(
            f"That failed ({inline(error)}), so I try less: only read the file and print it.",
            _cell(TABLE_CODE, path),
        )
        return _report_table(path, error, table)
    return _report_plot(path, plotted)


def _cell(code: str, path: str) -> Call:
    return call("run_code", code=code.format(path=path), security_risk="low")


def _choose(listing: Result, request: str) -> str:
    """Pick the file that the request names, else the first one; empty if there is none."""
    found = [line.strip().removeprefix("./") for line in listing.text.splitlines()]
    found = [path for path in found if path.lower().endswith(".csv")]
    wanted = _CSV_NAME.search(request)
    if wanted:
        name = wanted[0].removeprefix("./")
        found.sort(key=lambda path: not (path == name or path.endswith("/" + name)))
    return found[0] if found else ""


def _report_plot(path: str, plotted: Result) -> Reply:
    if problem := setback(plotted, f"plotting {inline(path)}"):
        return finish(problem)
    facts = " ".join(_FACT.findall(plotted.text)) or f"I loaded {inline(path)}."
    if _NO_MATPLOTLIB in plotted.text:
        return finish(
            f"{facts}\n\nmatplotlib is not installed in the sandbox, so the plot is a chart in "
            "text, in the output above."
        )
    if "[image/" in plotted.text:
        return finish(f"{facts}\n\nThe plot is in the output above.")
    return finish(f"{facts}\n\nThe cell ran, but I see no picture among its outputs.")


def _report_table(path: str, error: str, table: Result) -> Reply:
    if problem := setback(table, f"reading {inline(path)}"):
        return finish(problem)
    if table.raised:
        return finish(
            f"I could not read {inline(path)}: {inline(_last_line(table))}. "
            "Is it a CSV file in UTF-8? I am the guided tour and cannot look further into it."
        )
    return finish(
        f"I could not plot {inline(path)} ({inline(error)}), but I could read it:\n\n"
        f"{block(table.text)}"
    )


def _last_line(result: Result) -> str:
    lines = result.text.splitlines()
    return lines[-1].strip()[:200] if lines else "no message"
