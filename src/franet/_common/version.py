"""The version, for packages that must not import `franet` itself."""

__version__ = "0.1.0"
