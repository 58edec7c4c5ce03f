// SampleObserver: receives samples during the first scan over a file, while their bytes are in the
// CPU cache. For sums that need every sample once and nothing of it afterwards.
#pragma once

#include <cstddef>

#include "perfdata/records/record.h"

namespace sonde {

class EventTable;

class SampleObserver {
 public:
  virtual ~SampleObserver() = default;
  /// Called before anything else. Returns false if it does not want the samples of this recording.
  virtual bool begin(const EventTable& events) = 0;
  /// Called before the first sample. Each part is filled by one thread; concatenated in order, the
  /// parts have the samples in file order.
  virtual void set_parts(size_t parts) = 0;
  /// Whether there is room for more. Asked only now and then; samples that come in between are
  /// accepted.
  [[nodiscard]] virtual bool wants_more(size_t part) = 0;
  struct Taken {
    size_t samples = 0, bytes = 0;
  };
  /// Takes the sample at the start of `bytes`, which is whole, and the whole ones that directly
  /// follow it. The bytes are valid during the call only.
  virtual Taken take(size_t part, Bytes bytes, uint64_t file_offset, ByteOrder order) = 0;
  /// What a part was given turned out not to be samples.
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
