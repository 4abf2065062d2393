import unittest

from units import convert, parse


class Units(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse("3 km"), (3.0, "km"))

    def test_parse_below_zero(self):
        self.assertEqual(parse("-4 °C"), (-4.0, "°C"))

    def test_lengths(self):
        self.assertAlmostEqual(convert(2.0, "km", "m"), 2000.0)

    def test_boiling_water(self):
        self.assertAlmostEqual(convert(212.0, "°F", "°C"), 100.0)


if __name__ == "__main__":
    unittest.main()
