"""Names for the flags and symbols in tracepoint fields, and headers of events.

Sonde calls the define_… functions with what an event's format says, before the script sees the
first event of that kind; scripts call flag_str and symbol_str with the values of fields.
"""
from collections import defaultdict


def autodict():
    """A dictionary whose missing entries are such dictionaries."""
    return defaultdict(autodict)


flag_fields = autodict()
symbolic_fields = autodict()


def define_flag_field(event_name, field_name, delim):
    flag_fields[event_name][field_name]["delim"] = delim


def define_flag_value(event_name, field_name, value, field_str):
    flag_fields[event_name][field_name]["values"][value] = field_str


def define_symbolic_field(event_name, field_name):
    symbolic_fields[event_name][field_name]["values"]


def define_symbolic_value(event_name, field_name, value, field_str):
    symbolic_fields[event_name][field_name]["values"][value] = field_str


def _set_names(names, value):
    """The names of the flags in a value, lowest first; that of 0 only for a value of 0."""
    found = []
    for mask in sorted(names):
        if mask == 0:
            if value == 0:
                return [names[mask]]
        elif value & mask == mask:
            found.append(names[mask])
            value &= ~mask
    return found


def flag_str(event_name, field_name, value):
    field = flag_fields[event_name][field_name]
    if not field:
        return ""
    delim = field["delim"]
    return (" " + delim + " " if delim else "").join(_set_names(field["values"], value))


def symbol_str(event_name, field_name, value):
    field = symbolic_fields[event_name][field_name]
    return field["values"].get(value, "") if field else ""


trace_flags = {
    0: "NONE",
    1: "IRQS_OFF",
    2: "IRQS_NOSUPPORT",
    4: "NEED_RESCHED",
    8: "HARDIRQ",
    16: "SOFTIRQ",
}


def trace_flag_str(value):
    return " | ".join(_set_names(trace_flags, value))


def taskState(state):
    return {0: "R", 1: "S", 2: "D", 64: "DEAD"}.get(state, "Unknown")


class EventHeaders:
    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                 common_callchain):
        self.cpu = common_cpu
        self.secs = common_secs
        self.nsecs = common_nsecs
        self.pid = common_pid
        self.comm = common_comm
        self.callchain = common_callchain

    def ts(self):
        """ns"""
        return self.secs * 1000000000 + self.nsecs

    def ts_format(self):
        return "%d.%d" % (self.secs, self.nsecs // 1000)
