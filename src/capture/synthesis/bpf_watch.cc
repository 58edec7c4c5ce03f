#include "capture/synthesis/bpf_watch.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <cstring>

#include "abi/perf_event.h"

namespace sonde {
namespace {

constexpr size_t kPages = 4;

perf_event_attr watching_attr() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_id_all = 1;
  attr.bpf_event = 1;
  attr.watermark = 1;
  attr.wakeup_watermark = 1;
  return attr;
}

/// Ids of the loaded programs among `records`.
void collect_loads(Bytes records, std::vector<uint32_t>& ids) {
  while (records.size() >= sizeof(abi::RecordHeader)) {
    abi::RecordHeader header;
    std::memcpy(&header, records.data(), sizeof header);
    if (header.size < sizeof header || header.size > records.size()) return;
    // perf_event_open(2): u16 type, u16 flags, u32 id, u8 tag[8]
    if (header.type == PERF_RECORD_BPF_EVENT && header.size >= sizeof header + 8 &&
        load<uint16_t>(records.data() + sizeof header) == PERF_BPF_EVENT_PROG_LOAD)
      ids.push_back(load<uint32_t>(records.data() + sizeof header + 4));
    records = records.subspan(header.size);
  }
}

}  // namespace

BpfWatch BpfWatch::open(Sys& sys, const std::vector<int>& cpus) {
  BpfWatch watch;
  for (int cpu : cpus) {
    perf_event_attr attr = watching_attr();
    SysResult<int> fd = sys.perf_event_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (!fd) continue;
    Fd event(*fd);
    SysResult<RingBuffer> buffer = RingBuffer::map(sys, event.get(), kPages, false);
    if (buffer) watch.rings_.push_back({std::move(event), std::move(*buffer)});
  }
  return watch;
}

std::vector<int> BpfWatch::fds() const {
  std::vector<int> fds;
  for (const Ring& ring : rings_) fds.push_back(ring.event.get());
  return fds;
}

std::vector<uint32_t> BpfWatch::take() {
  std::vector<uint32_t> ids;
  for (Ring& ring : rings_) {
    RingPiece piece = ring.buffer.peek();
    if (piece.empty()) continue;
    std::vector<std::byte> records(piece.first.begin(), piece.first.end());
    records.insert(records.end(), piece.second.begin(), piece.second.end());
    ring.buffer.consume();
    collect_loads(records, ids);
  }
  return ids;
}

}  // namespace sonde
