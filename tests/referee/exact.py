"""Exact rationals, and logarithms and exponentials with many digits: of gmpy2 where it is installed, much faster."""

from functools import wraps

DIGITS = 50

try:
    import gmpy2
except ImportError:
    from decimal import Decimal, localcontext
    from fractions import Fraction

    exp, log = Decimal.exp, Decimal.ln

    def many_digits():
        return localcontext(prec=DIGITS)

    def real(x):
        """Return a rational with the digits of `digits`."""
        return Decimal(x.numerator) / Decimal(x.denominator)
else:
    Fraction, real, exp, log = gmpy2.mpq, gmpy2.mpfr, gmpy2.exp, gmpy2.log

    def many_digits():
        return gmpy2.context(precision=int(DIGITS * 3.33))


def digits(function):
    """Compute with many digits."""

    @wraps(function)
    def inner(*args):
        with many_digits():
            return function(*args)

    return inner


__all__ = ["Fraction", "digits", "exp", "log", "real"]
