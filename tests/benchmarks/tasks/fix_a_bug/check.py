"""The tests pass, and so do others of the same kind."""

from checking import require, require_unchanged, run_python

MORE = """
from units import convert, parse
assert parse("3 km") == (3.0, "km") and parse("-2.5 °C") == (-2.5, "°C"), "parse"
assert parse(" 12cm ") == (12.0, "cm"), "parse without a blank"
assert abs(convert(1.0, "km", "mi") - 0.621371) < 1e-6, "km to mi"
assert abs(convert(26.2, "mi", "km") - 42.164813) < 1e-5, "mi to km"
assert abs(convert(-40.0, "°C", "°F") + 40.0) < 1e-9, "°C to °F"
assert abs(convert(212.0, "°F", "°C") - 100.0) < 1e-9, "°F to °C"
assert abs(convert(32.0, "°F", "°C")) < 1e-9, "°F to °C"
assert abs(convert(5.0, "cm", "m") - 0.05) < 1e-12, "cm to m"
"""

require_unchanged("test_units.py", "ca1a25b7c6db8a8b")
done = run_python("-m", "unittest", "-q")
require(done.returncode == 0, "the tests still fail")
done = run_python("-c", MORE)
require(done.returncode == 0, f"other cases fail: {(done.stderr.splitlines() or ['?'])[-1]}")
