// INTERPRETED_FILES: what the addresses of interpreted functions stand for. A version and the
// number of files; of each its path, its first address and its functions. Strings follow their
// length.
#include "perfdata/header/feature_decoder.h"
#include "perfdata/header/feature_encoder.h"
#include "perfdata/records/user_records.h"

namespace sonde::feature {
namespace {

constexpr uint32_t kInterpretedVersion = 1;
constexpr size_t kLeastFileBytes = 4 + 8 + 4, kLeastFunctionBytes = 8 + 4 + 4 + 4;

void put_sized(std::string_view text, ByteBuilder& out) {
  out.u32(static_cast<uint32_t>(text.size()));
  out.text(text);
}

std::string read_sized(ByteCursor& in) {
  uint32_t size = in.u32();
  return std::string(as_text(in.take(size)));
}

bool read_functions(ByteCursor& in, InterpretedFile& file) {
  uint32_t count = in.u32();
  if (!in.fits(count, kLeastFunctionBytes)) return false;
  file.functions.reserve(count);
  uint64_t end = 0;  // of the function before
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    InterpretedFile::Function function;
    function.place = in.u64();
    function.first_line = in.u32();
    function.line_count = in.u32();
    function.name = read_sized(in);
    if (function.place < end || function.place >= kInterpretedFileBytes) return false;
    end = function.place + 1 + function.line_count;
    file.functions.push_back(std::move(function));
  }
  return in.ok();
}

}  // namespace

bool interpreted_files(ByteCursor& in, Features& features) {
  if (in.u32() != kInterpretedVersion) return false;
  uint32_t count = in.u32();
  if (!in.fits(count, kLeastFileBytes)) return false;
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    InterpretedFile file;
    file.path = read_sized(in);
    file.start = in.u64();
    if (file.start < kInterpretedBase || !read_functions(in, file)) return false;
    features.interpreted_files.push_back(std::move(file));
  }
  return in.ok();
}

void put_interpreted_files(std::span<const InterpretedFile> files, ByteBuilder& out) {
  out.u32(kInterpretedVersion);
  out.u32(static_cast<uint32_t>(files.size()));
  for (const InterpretedFile& file : files) {
    put_sized(file.path, out);
    out.u64(file.start);
    out.u32(static_cast<uint32_t>(file.functions.size()));
    for (const InterpretedFile::Function& function : file.functions) {
      out.u64(function.place);
      out.u32(function.first_line);
      out.u32(function.line_count);
      put_sized(function.name, out);
    }
  }
}

}  // namespace sonde::feature

namespace sonde {
namespace {

/// A record has at most 64 KiB, names and paths of sensible length far less.
constexpr size_t kMostUpdateBytes = size_t{60} << 10, kMostTextBytes = size_t{16} << 10;

void put_update(const InterpretedFile& file, uint64_t event_id, ByteBuilder& out) {
  ByteBuilder content(out.order());
  feature::put_interpreted_files({&file, 1}, content);
  content.zeros((8 - content.size() % 8) % 8);
  encode(EventUpdateRecord{.kind = EventUpdateKind::kInterpretedFiles,
                           .id = event_id,
                           .text = {},
                           .cpus = {},
                           .files = content.view()},
         out);
}

}  // namespace

void encode_interpreted_updates(std::span<const InterpretedFile> files, uint64_t event_id,
                                ByteBuilder& out) {
  for (const InterpretedFile& file : files) {
    InterpretedFile part{
        .path = file.path.substr(0, kMostTextBytes), .start = file.start, .functions = {}};
    size_t bytes = part.path.size();
    for (const InterpretedFile::Function& function : file.functions) {
      InterpretedFile::Function cut = function;
      cut.name = cut.name.substr(0, kMostTextBytes);
      size_t more = feature::kLeastFunctionBytes + cut.name.size();
      if (bytes + more > kMostUpdateBytes) {
        put_update(part, event_id, out);
        part.functions.clear();
        bytes = part.path.size();
      }
      bytes += more;
      part.functions.push_back(std::move(cut));
    }
    put_update(part, event_id, out);
  }
}

}  // namespace sonde
