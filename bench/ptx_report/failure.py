class Failure(Exception):
    """What ends the report, in words for the user."""
