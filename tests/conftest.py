"""What all tests share."""

from __future__ import annotations

import signal

# A shell starts jobs in the background with Ctrl-C ignored, and programs inherit it:
# those that the tests of interrupts start would never stop.
signal.signal(signal.SIGINT, signal.default_int_handler)
