// DeferredSamples: collects what a count by place needs from each sample while the file is first
// scanned. The location of an address is known only after all mappings are; until then samples
// wait here, at sixteen bytes each, with shared fields stored once per run. After some ten million
// samples no more are taken: the sample pass reads the rest from the file, which needs no memory of
// ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/loss.h"
#include "machine/dso.h"
#include "perfdata/header/event_table.h"
#include "perfdata/read/sample_observer.h"
#include "replay/fields/sample_offsets.h"

namespace sonde {

/// Limit for counting samples by place: keeps the table by place and event small.
inline constexpr size_t kMaxEventsByPlace = 8;

/// Consecutive samples of one process, event and mode, within four seconds.
struct ScanRun {
  uint64_t time = 0;    // lower bound of the samples' times
  uint64_t period = 0;  // upper half of each sample's period
  uint32_t pid = 0;
  uint16_t event = 0;
  uint8_t cpu_mode = 0;
  enum class Kind : uint8_t { kGood, kUnknownEvent, kBadRecord } kind = Kind::kGood;
  uint32_t first = 0;        // index into its segment's samples
  uint32_t size = 0;         // in bytes, of a sample that could not be read and is not among them
  uint64_t file_offset = 0;  // of that sample
};

struct ScanSegment {
  struct Sample {
    uint32_t low = 0, high = 0;  // halves of the address
    uint32_t after = 0;          // ns since the run's time; once the place is known, the object
    uint32_t period = 0;         // lower half
    static Sample at(uint64_t address, uint32_t rest, uint32_t period) {
      return {static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), rest, period};
    }
    [[nodiscard]] uint64_t address() const { return (uint64_t{high} << 32) | low; }
    [[nodiscard]] DsoId dso() const { return DsoId(after); }
  };
  std::span<const ScanRun> runs;
  std::span<Sample> samples;

  /// Calls body(run, its samples).
  template <typename Body>
  void for_each_run(const Body& body) const {
    for (size_t i = 0; i < runs.size(); ++i) {
      size_t end = i + 1 < runs.size() ? runs[i + 1].first : samples.size();
      body(runs[i], samples.subspan(runs[i].first, end - runs[i].first));
    }
  }
};

/// Counts an unusable run as a loss.
void count_bad(const ScanRun& run, LossLedger& losses);

class DeferredSamples final : public SampleObserver {
 public:
  static constexpr size_t kChunk = 10'000;  // samples
  static constexpr size_t kMaxChunks = 1000;
  explicit DeferredSamples(size_t most_chunks = kMaxChunks) : memory_(most_chunks) {}
  /// Samples whose order is that of the file are not wanted, as it is unknown in the middle of the
  /// file; nor are samples that carry counters, nor those beside samples with branch stacks, which
  /// annotate reads one by one.
  bool begin(const EventTable& events) override;
  void set_parts(size_t parts) override { parts_.resize(parts); }
  [[nodiscard]] bool wants_more(size_t part) override;
  Taken take(size_t part, Bytes bytes, uint64_t file_offset, ByteOrder order) override;
  void drop(size_t part) override { parts_[part] = {}; }

  /// Batches of some thousand samples, in file order.
  [[nodiscard]] std::vector<ScanSegment> segments();

 private:
  static constexpr size_t kMaxRuns = 2'000'000;
  /// If an event's samples are in host byte order and only their call chain has variable size, they
  /// are read at fixed positions.
  struct Known {
    SampleOffsets places;
    uint64_t period = 0;  // if samples don't carry it
    bool is_simple = false;
  };
  /// Memory for chunks. The first ones come from the heap, as most recordings are small. Later ones
  /// come from huge pages of one mapping: this saves thousands of page faults and changes of
  /// mappings that other threads would wait for.
  class Memory {
   public:
    explicit Memory(size_t most_chunks) : most_(most_chunks) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();
    /// Space for kChunk samples; thread-safe.
    ScanSegment::Sample* chunk();
    [[nodiscard]] bool is_used_up() const { return next_ >= most_; }

   private:
    static constexpr size_t kSmall = 4;  // chunks
    size_t most_;
    std::atomic<size_t> next_ = 0;
    std::once_flag mapped_;
    ScanSegment::Sample* mapping_ = nullptr;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ScanSegment::Sample[]>> small_;
  };
  struct Chunk {
    std::vector<ScanRun> runs;
    ScanSegment::Sample* samples;
    ScanSegment::Sample* end;  // except in a part's last one: `next`
  };
  struct Part {
    std::vector<Chunk> chunks;
    ScanSegment::Sample* next = nullptr;
    ScanSegment::Sample* end = nullptr;              // of the last chunk
    ScanRun run{.kind = ScanRun::Kind::kBadRecord};  // the last one; initially none to continue
    size_t runs = 0;                                 // since wants_more was last called
    Sample sample;                                   // the current one
  };
  /// What is read from a sample, whatever its form.
  struct Fields {
    uint64_t ip, time, period;
    uint32_t pid;
    uint16_t cpu_mode;
  };
  [[nodiscard]] static bool read_simple(const Known& event, const RecordView& record,
                                        Fields& fields);
  void take(Part& part, const RecordView& record);
  void add(Part& part, const Fields& fields, EventId event);
  void add_bad(Part& part, ScanRun::Kind why, const RecordView& record);
  void begin_run(Part& part, const ScanRun& run);

  const EventTable* events_ = nullptr;
  std::vector<Known> known_;  // by event
  std::vector<Part> parts_;
  std::atomic<size_t> runs_ = 0;
  Memory memory_;
};

}  // namespace sonde
