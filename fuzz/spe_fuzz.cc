// Untrusted Arm SPE traces: packets are printed, and records read, to the end, whatever they are.
#include <cstddef>
#include <cstdint>

#include "base/sink.h"
#include "fuzz/fuzz_target.h"
#include "itrace/spe_records.h"
#include "spe/packet.h"

FUZZ_TARGET(spe)(const uint8_t* data, size_t size) {
  using namespace sonde;
  Bytes trace(reinterpret_cast<const std::byte*>(data), size);
  StringSink out;
  spe::put_packets(trace, out);
  itrace::SpeReader reader(trace);
  size_t records = 0;
  for (itrace::SpeRecord record; reader.next(record);) ++records;
  if (records + reader.bad_bytes() > size) __builtin_trap();
  return 0;
}
