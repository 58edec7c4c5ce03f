#include "benchmarks/internals/made_recording.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "base/text.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/write/writer.h"

namespace sonde {

namespace {

constexpr uint32_t kTask = 1234;
constexpr uint64_t kEventId = 1;
constexpr uint64_t kFirstAddress = 0x400000, kMappingBytes = 8192;

abi::EventAttr sampled_event() {
  abi::EventAttr attr{};
  attr.type = abi::kTypeSoftware;
  attr.sample_period = 1;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleId;
  attr.sample_id_all = 1;
  return attr;
}

/// proc_pid_maps(5): the path is the sixth field; only executable mappings have code.
std::string_view mapped_code(std::string_view line) {
  size_t path = line.find('/');
  bool is_code = line.find(" r-xp ") != std::string_view::npos;
  return path == std::string_view::npos || !is_code ? std::string_view() : line.substr(path);
}

/// Encodes records one after the other, each a nanosecond later.
class RecordMaker {
 public:
  explicit RecordMaker(const abi::EventAttr& attr) : attr_(attr) {}

  void comm() { encode(CommRecord{kTask, kTask, "bench", false}, frame(), out_); }
  void mapping(uint64_t start, std::string_view path) {
    MmapRecord record{};
    record.pid = record.tid = kTask;
    record.start = RuntimeAddr{start};
    record.length = kMappingBytes;
    record.path = path;
    record.protection = PROT_READ | PROT_EXEC;
    record.flags = MAP_PRIVATE;
    record.is_v2 = true;
    record.misc = abi::kMiscUser;
    encode(record, frame(), out_);
  }
  void sample(uint64_t address) {
    Sample sample{};
    sample.id = frame().id;
    sample.cpu_mode = sample.misc = abi::kMiscUser;
    sample.ip = address;
    encode_sample(sample, attr_, out_);
  }
  [[nodiscard]] Bytes view() const { return out_.view(); }

 private:
  RecordFrame frame() {
    RecordFrame frame{};
    frame.attr = &attr_;
    frame.id = kSynthesisedId;
    frame.id.pid = frame.id.tid = kTask;
    frame.id.time = ++time_ns_;
    frame.id.id = kEventId;
    return frame;
  }

  const abi::EventAttr& attr_;
  uint64_t time_ns_ = 0;
  ByteBuilder out_;
};

}  // namespace

Result<std::vector<std::string>> own_objects() {
  std::string maps = TRY(read_file("/proc/self/maps"));
  std::set<std::string, std::less<>> paths;
  for (std::string_view line : split(maps, '\n'))
    if (std::string_view path = mapped_code(line); !path.empty()) paths.emplace(path);
  if (paths.empty()) return fail(ErrorCode::kNotFound, "/proc/self/maps shows no mapped objects");
  return std::vector<std::string>(paths.begin(), paths.end());
}

Result<Fd> make_recording(const std::vector<std::string>& objects, unsigned mappings,
                          unsigned samples_per_mapping) {
  Fd file(::memfd_create("sonde-bench", MFD_CLOEXEC));
  Fd copy(::dup(file.get()));
  if (!copy.valid())
    return fail(ErrorCode::kFailed, "cannot make a file in memory: {}", std::strerror(errno));
  EventDesc event{};
  event.attr = sampled_event();
  event.name = "page-faults";
  event.ids = {kEventId};
  RecordMaker records(event.attr);
  records.comm();
  for (unsigned i = 0; i < mappings; ++i) {
    uint64_t start = kFirstAddress + i * kMappingBytes;
    records.mapping(start, objects[i % objects.size()]);
    for (unsigned k = 0; k < samples_per_mapping; ++k) records.sample(start + k % kMappingBytes);
  }
  PerfDataWriter writer = TRY(PerfDataWriter::pipe(std::move(copy), "a file in memory", {}));
  TRY(writer.begin({event}, {}));
  TRY(writer.main().write(records.view()));
  TRY(writer.finish({}));
  return file;
}

}  // namespace sonde
