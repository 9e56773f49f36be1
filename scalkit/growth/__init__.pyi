from scalkit.growth.growth import Exponents as Exponents
from scalkit.growth.growth import Growth as Growth
from scalkit.growth.parse import parse_growth as parse_growth
