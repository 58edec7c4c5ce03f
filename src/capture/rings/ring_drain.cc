#include "capture/rings/ring_drain.h"

#include <sched.h>

#include "base/file.h"
#include "base/text.h"
#include "event/pmu/pmu.h"

namespace sonde {
namespace {

/// The CPUs of the NUMA node that `cpu` belongs to.
std::vector<int> node_cpus(int cpu) {
  for (int node = 0;; ++node) {
    Result<std::string> list =
        read_file(fmt::format("/sys/devices/system/node/node{}/cpulist", node));
    if (!list) return {cpu};
    std::optional<std::vector<int>> cpus = parse_cpu_list(trim(*list));
    if (cpus && std::find(cpus->begin(), cpus->end(), cpu) != cpus->end()) return *cpus;
  }
}

}  // namespace

void RingDrain::move_near(const CaptureRing& ring) const {
  if (options_.affinity == Affinity::kSystem || ring.cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (options_.affinity == Affinity::kCpu)
    CPU_SET(static_cast<size_t>(ring.cpu), &set);
  else
    for (int cpu : node_cpus(ring.cpu)) CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
}

Result<size_t> RingDrain::forward(CaptureRing& ring, StreamWriter& stream, bool all) {
  if (ring.buffer.is_backward()) return size_t{0};
  RingPiece piece = ring.buffer.peek();
  if (piece.empty() || (!all && piece.size() < options_.output.flush_bytes)) return size_t{0};
  move_near(ring);
  size_t size = piece.size();
  if (joiner_ != nullptr) piece = {joiner_->join(ring.cpu, piece.first, piece.second), {}};
  scan_.piece(piece.first, piece.second);
  Result<> written = stream.ring(piece.first, piece.second);
  ring.buffer.consume();
  if (!written) return std::unexpected(std::move(written).error());
  return size;
}

Result<bool> RingDrain::backward(CaptureRing& ring, StreamWriter& stream) {
  if (!ring.buffer.is_backward()) return false;
  RingPiece piece = ring.buffer.peek_backward();
  if (piece.empty()) return false;
  scan_.piece(piece.first, piece.second);
  TRY(stream.ring(piece.first, piece.second));
  return true;
}

}  // namespace sonde
