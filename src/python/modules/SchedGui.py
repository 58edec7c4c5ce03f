"""The window of scripts like sched-migration, which perf brings: it says what is missing here."""
try:
    import wx
except ImportError:
    raise ImportError("SchedGui: the window needs wxPython: install python3-wxgtk4.0") from None

raise ImportError("SchedGui: perf's window is not part of this program: install linux-perf, or set PERF_EXEC_PATH to where its scripts are")
