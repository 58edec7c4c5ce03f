// Makes a long recording out of a short one: grow_recording IN OUT BYTES repeats the records of a
// perf.data file, each time later by the length of the recording, until there are BYTES of them.
// Everything but the times stays as it was recorded, so that the distribution of samples, chains
// and mappings is a real one. The layout of the file is that of Linux's
// tools/perf/Documentation/perf.data-file-format.txt.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uint64_t kMagic = 0x32454c4946524550;  // "PERFILE2"
constexpr uint32_t kSample = 9, kUserTypes = 64, kAuxtrace = 71, kCompressed = 81,
                   kCompressed2 = 83;
enum SampleBit : uint64_t {
  kIp = 1 << 0,
  kTid = 1 << 1,
  kTime = 1 << 2,
  kId = 1 << 6,
  kCpu = 1 << 7,
  kStreamId = 1 << 9,
  kIdentifier = 1 << 16,
};

struct Section {
  uint64_t offset, size;
};
struct FileHeader {
  uint64_t magic, size, attr_size;
  Section attrs, data, event_types;
  uint64_t features[4];
};
struct RecordHeader {
  uint32_t type;
  uint16_t misc, size;
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "grow_recording: %s\n", why.c_str());
  std::exit(1);
}

template <typename T>
T at(const std::vector<char>& bytes, uint64_t offset) {
  if (offset + sizeof(T) > bytes.size()) fail("the file is cut off");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::vector<char> read_all(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) fail(std::string("cannot open ") + path);
  std::fseek(file, 0, SEEK_END);
  std::vector<char> bytes(static_cast<size_t>(std::ftell(file)));
  std::rewind(file);
  if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) fail("cannot read");
  std::fclose(file);
  return bytes;
}

/// Positions of the times of all records, in the data section.
std::vector<uint64_t> find_times(const std::vector<char>& bytes, Section data,
                                 uint64_t sample_type) {
  if ((sample_type & kTime) == 0) fail("its samples have no times");
  uint64_t in_sample = sizeof(RecordHeader);
  for (uint64_t bit : {uint64_t{kIdentifier}, uint64_t{kIp}, uint64_t{kTid}})
    if ((sample_type & bit) != 0) in_sample += 8;
  uint64_t from_end = 8;  // other records end with TID TIME ID STREAM_ID CPU IDENTIFIER
  for (uint64_t bit : {uint64_t{kId}, uint64_t{kStreamId}, uint64_t{kCpu}, uint64_t{kIdentifier}})
    if ((sample_type & bit) != 0) from_end += 8;
  std::vector<uint64_t> times;
  for (uint64_t position = 0; position < data.size;) {
    auto header = at<RecordHeader>(bytes, data.offset + position);
    if (header.size < sizeof header) fail("a record has no size");
    if (header.type < kUserTypes)
      times.push_back(header.type == kSample ? position + in_sample
                                             : position + header.size - from_end);
    else if (header.type == kAuxtrace || header.type == kCompressed || header.type == kCompressed2)
      fail("it is compressed, or has AUX data");
    position += header.size;
  }
  return times;
}

void write(std::FILE* out, const void* bytes, size_t size) {
  if (std::fwrite(bytes, 1, size, out) != size) fail("cannot write");
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) fail("IN OUT BYTES");
  std::vector<char> bytes = read_all(words[1]);
  auto header = at<FileHeader>(bytes, 0);
  if (header.magic != kMagic) fail("not a perf.data file of this byte order");
  auto sample_type = at<uint64_t>(bytes, header.attrs.offset + 24);
  std::vector<uint64_t> times = find_times(bytes, header.data, sample_type);
  uint64_t first = UINT64_MAX, last = 0;
  for (uint64_t position : times) {
    auto time = at<uint64_t>(bytes, header.data.offset + position);
    if (time == 0) continue;  // synthesized
    first = std::min(first, time);
    last = std::max(last, time);
  }
  uint64_t copies =
      (std::strtoull(words[3], nullptr, 10) + header.data.size - 1) / header.data.size;
  uint64_t added = (copies - 1) * header.data.size;

  std::FILE* out = std::fopen(words[2], "wb");
  if (out == nullptr) fail(std::string("cannot create ") + words[2]);
  uint64_t table = header.data.offset + header.data.size;
  FileHeader grown = header;
  grown.data.size += added;
  std::vector<char> head(bytes.begin(),
                         bytes.begin() + static_cast<std::ptrdiff_t>(header.data.offset));
  std::memcpy(head.data(), &grown, sizeof grown);
  write(out, head.data(), head.size());
  std::vector<char> records(bytes.begin() + static_cast<std::ptrdiff_t>(header.data.offset),
                            bytes.begin() + static_cast<std::ptrdiff_t>(table));
  for (uint64_t copy = 0; copy < copies; ++copy) {
    write(out, records.data(), records.size());
    for (uint64_t position : times) {
      auto time = at<uint64_t>(records, position);
      if (time == 0) continue;
      time += last - first + 1;
      std::memcpy(records.data() + position, &time, sizeof time);
    }
  }
  std::vector<char> tail(bytes.begin() + static_cast<std::ptrdiff_t>(table), bytes.end());
  size_t sections = 0;
  for (uint64_t bits : header.features) sections += static_cast<size_t>(__builtin_popcountll(bits));
  for (size_t i = 0; i < sections; ++i) {
    auto section = at<Section>(tail, i * sizeof(Section));
    section.offset += added;
    std::memcpy(tail.data() + i * sizeof section, &section, sizeof section);
  }
  write(out, tail.data(), tail.size());
  if (std::fclose(out) != 0) fail("cannot write");
}
