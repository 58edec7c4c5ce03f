"""Samples as objects: plain ones, and those whose raw data is a record of Intel's PEBS."""
import struct

EVTYPE_GENERIC = 0
EVTYPE_PEBS = 1     # registers
EVTYPE_PEBS_LL = 2  # registers and a load's latency
EVTYPE_IBS = 3

_PEBS_SIZE = 144
_PEBS_LL_SIZE = 176


def create_event(name, comm, dso, symbol, raw_buf):
    """The kind is known by the size of the raw data only."""
    kinds = {_PEBS_SIZE: PebsEvent, _PEBS_LL_SIZE: PebsNHM}
    return kinds.get(len(raw_buf), PerfEvent)(name, comm, dso, symbol, raw_buf)


class PerfEvent(object):
    event_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_GENERIC):
        self.name = name
        self.comm = comm
        self.dso = dso
        self.symbol = symbol
        self.raw_buf = raw_buf
        self.ev_type = ev_type
        PerfEvent.event_num += 1

    def show(self):
        print("PMU event: name=%12s, symbol=%24s, comm=%8s, dso=%12s" %
              (self.name, self.symbol, self.comm, self.dso))


class PebsEvent(PerfEvent):
    pebs_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS):
        (self.flags, self.ip, self.ax, self.bx, self.cx, self.dx, self.si, self.di, self.bp,
         self.sp) = struct.unpack_from("10Q", raw_buf)
        PerfEvent.__init__(self, name, comm, dso, symbol, raw_buf, ev_type)
        PebsEvent.pebs_num += 1


class PebsNHM(PebsEvent):
    pebs_nhm_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS_LL):
        self.status, self.dla, self.dse, self.lat = struct.unpack_from("4Q", raw_buf, _PEBS_SIZE)
        PebsEvent.__init__(self, name, comm, dso, symbol, raw_buf, ev_type)
        PebsNHM.pebs_nhm_num += 1
