"""Marked regions and counts of loft (loft/region.h, loft/count.h) for Python, through libloft.

    import loft
    with loft.region("solve"):
        solve(matrix)

    with loft.Counters("instructions,flops") as counters:
        work()
    print(counters.values())            # {"instructions": 81203114.0, "flops": 16000000.0}

`loft stat --by region -- python3 app.py` shows the regions. Without libloft nothing is marked; counters
raise an error. A value that is missing is None.
"""

import contextlib
import ctypes
import ctypes.util
import os

_NAMES = (os.environ.get("LOFT_LIBRARY"), "libloft.so", "libloft.so.0.1")


def _load():
    for name in filter(None, _NAMES):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


_library = _load()
_MISSING = 3


class _Count(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("running", ctypes.c_double), ("kind", ctypes.c_int)]


if _library is not None:
    for _function in (_library.loft_region_enter, _library.loft_region_leave):
        _function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        _function.restype = None
    _library.loft_counters_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    _library.loft_counters_open.restype = ctypes.c_void_p
    _library.loft_counters_name.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    _library.loft_counters_name.restype = ctypes.c_char_p
    _library.loft_counters_size.argtypes = [ctypes.c_void_p]
    _library.loft_counters_size.restype = ctypes.c_size_t
    _library.loft_counters_read.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(_Count)]
    for _name in ("start", "stop", "reset", "update", "close"):
        getattr(_library, "loft_counters_" + _name).argtypes = [ctypes.c_void_p]


@contextlib.contextmanager
def region(name):
    """What runs inside is a marked region of the calling thread."""
    text = name.encode()
    if _library is not None:
        _library.loft_region_enter(text, len(text))
    try:
        yield
    finally:
        if _library is not None:
            _library.loft_region_leave(text, len(text))


class Counters:
    """Counts of the calling thread: any names that `loft stat -e` takes."""

    def __init__(self, events):
        if _library is None:
            raise OSError("libloft is not installed; LOFT_LIBRARY may name it")
        why = ctypes.create_string_buffer(512)
        self._handle = _library.loft_counters_open(events.encode(), why, len(why))
        if not self._handle:
            raise ValueError(why.value.decode())

    def _call(self, action):
        if _library["loft_counters_" + action](ctypes.c_void_p(self._handle)) != 0:
            raise OSError("cannot %s the counters" % action)

    def start(self):
        self._call("start")

    def stop(self):
        self._call("stop")

    def reset(self):
        self._call("reset")

    def values(self):
        """By name, as of this moment."""
        self._call("update")
        found = {}
        for index in range(_library.loft_counters_size(self._handle)):
            count = _Count()
            _library.loft_counters_read(self._handle, index, ctypes.byref(count))
            name = _library.loft_counters_name(self._handle, index).decode()
            found[name] = None if count.kind == _MISSING else count.value
        return found

    def close(self):
        if self._handle:
            _library.loft_counters_close(self._handle)
        self._handle = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
