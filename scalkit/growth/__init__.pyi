from scalkit.growth.exponents import Exponents as Exponents
from scalkit.growth.growth import Growth as Growth
