// SampleTap: takes samples at the first walk over a file, while their bytes are in the processor's
// cache. For sums that need every sample once and nothing of it afterwards.
#pragma once

#include <cstddef>

#include "perfdata/record.h"

namespace sonde {

class EventTable;

class SampleTap {
 public:
  virtual ~SampleTap() = default;
  /// Before anything else. False: it does not want the samples of this recording.
  virtual bool begin(const EventTable& events) = 0;
  /// Before the first sample. Each part is filled by one thread; together, in their order, they
  /// have the samples in the order of the file.
  virtual void set_parts(size_t parts) = 0;
  /// Whether there is room for more. Asked once in a while: what comes in between is taken.
  [[nodiscard]] virtual bool wants_more(size_t part) = 0;
  struct Taken {
    size_t samples = 0, bytes = 0;
  };
  /// Takes the sample that `bytes` begin with, which is whole, and those right behind it as far as
  /// they are. The bytes are valid during the call only.
  virtual Taken take(size_t part, Bytes bytes, uint64_t file_offset, ByteOrder order) = 0;
  /// What a part was given were no samples.
  virtual void drop(size_t part) = 0;

 protected:
  /// Calls body(record) for the samples of take().
  template <typename Body>
  static Taken for_each_sample(Bytes bytes, uint64_t file_offset, ByteOrder order,
                               const Body& body) {
    constexpr size_t kHeader = sizeof(abi::RecordHeader);
    Taken taken;
    while (bytes.size() - taken.bytes >= kHeader) {
      const std::byte* at = bytes.data() + taken.bytes;
      size_t size = load<uint16_t>(at + 6, order);
      if (load<uint32_t>(at, order) != abi::kRecordSample || size < kHeader ||
          size > bytes.size() - taken.bytes)
        break;
      body(RecordView{abi::kRecordSample,
                      load<uint16_t>(at + 4, order),
                      {at + kHeader, size - kHeader},
                      file_offset + taken.bytes,
                      order});
      ++taken.samples;
      taken.bytes += size;
    }
    return taken;
  }
};

}  // namespace sonde
