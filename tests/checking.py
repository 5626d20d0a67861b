"""The type checker of the test run: beartype, for which an int is a float as it is for mypy."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
