#include "perfdata/text/format.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "perfdata/header/feature_encoder.h"
#include "perfdata/header/file_layout.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/user_records.h"
#include "perfdata/text/dump_reader.h"
#include "perfdata/text/features.h"
#include "perfdata/text/fields.h"
#include "perfdata/text/records.h"
#include "perfdata/write/compressor.h"
#include "perfdata/write/writer.h"

namespace sonde {
namespace {

constexpr uint32_t kMaxAttrSize = 4096;
constexpr uint32_t kCompressedRoom = 512 * 1024;

/// The lines of a text; a backslash at the end continues a line. Hex lines end with the bytes as
/// characters, so a backslash means nothing there.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool next(std::string_view& line) {
    if (text_.empty()) return false;
    ++number_;
    line = take();
    if (!line.ends_with('\\') || line.starts_with('.')) return true;
    joined_ = line.substr(0, line.size() - 1);
    while (!text_.empty()) {
      ++number_;
      std::string_view more = take();
      bool goes_on = more.ends_with('\\');
      joined_ += more.substr(0, more.size() - (goes_on ? 1 : 0));
      if (!goes_on) break;
    }
    line = joined_;
    return true;
  }
  [[nodiscard]] size_t number() const { return number_; }

 private:
  std::string_view take() {
    size_t end = std::min(text_.find('\n'), text_.size());
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  std::string_view text_;
  std::string joined_;
  size_t number_ = 0;
};

class Assembler {
 public:
  Result<> take_line(std::string_view line);
  Result<std::vector<std::byte>> finish();

 private:
  Result<> take_directive(std::string_view line);
  Result<> take_feature(std::string_view line);
  Result<> take_behind(std::string_view line);
  Result<> take_raw(std::string_view hex);
  Result<> take_build_id(std::string_view fields);
  Result<> set_order(std::string_view value);
  Result<> set_compression(std::string_view value);
  Result<uint64_t> number(std::string_view text) const;
  Result<> compress_pending();
  std::vector<EncodedSection> sections();
  Result<ByteBuilder> lay_out_file();
  Result<ByteBuilder> lay_out_pipe();

  ByteOrder order_ = ByteOrder::kLittle;
  bool is_pipe_ = false;
  uint32_t attr_size_ = 0;  // 0: as large as the events need
  std::optional<uint64_t> stated_data_size_;
  uint64_t truncated_bytes_ = 0;
  std::vector<EventDesc> events_;
  Features features_;
  std::map<uint32_t, std::vector<std::byte>> raw_features_;
  std::vector<std::byte>* open_hex_ = nullptr;  // where hex lines currently go
  DumpReader dump_;
  ByteBuilder pending_;  // records not yet compressed
  ByteBuilder data_;
  int level_ = 0;
  uint32_t first_level_ = 0;  // what the COMPRESSED section says
  std::optional<RecordCompressor> compressor_;
  bool has_records_ = false;
};

Result<uint64_t> Assembler::number(std::string_view text) const {
  auto value = parse_number(trim(text));
  if (!value) return fail(ErrorCode::kCorrupt, "{}: not a number", trim(text));
  return *value;
}

Result<> Assembler::set_order(std::string_view value) {
  if (value != "little" && value != "big")
    return fail(ErrorCode::kCorrupt, "order: little or big, not {}", value);
  if (has_records_) return fail(ErrorCode::kCorrupt, "order: must come before the records");
  order_ = value == "big" ? ByteOrder::kBig : ByteOrder::kLittle;
  pending_ = ByteBuilder(order_);
  data_ = ByteBuilder(order_);
  return {};
}

Result<> Assembler::set_compression(std::string_view value) {
  TRY(compress_pending());
  uint64_t level = TRY(number(value));
  if (level > 22) return fail(ErrorCode::kCorrupt, "compression: 0 to 22");
  level_ = static_cast<int>(level);
  if (level_ > 0 && !compressor_) {
    compressor_ = TRY(RecordCompressor::create(level_));
    first_level_ = static_cast<uint32_t>(level_);
  }
  return {};
}

Result<> Assembler::compress_pending() {
  if (level_ == 0) {
    data_.bytes(pending_.view());
  } else {
    Bytes left = pending_.view();
    while (!left.empty()) {
      Bytes part = left.first(std::min<size_t>(left.size(), kCompressedRoom));
      TRY(compressor_->compress(part, data_));
      left = left.subspan(part.size());
    }
  }
  pending_.clear();
  return {};
}

Result<> Assembler::take_feature(std::string_view line) {
  size_t colon = std::min(line.find(':'), line.size());
  auto bit = feature_named(trim(line.substr(0, colon)));
  if (!bit) return fail(ErrorCode::kCorrupt, "no feature {}", trim(line.substr(0, colon)));
  std::string_view value = trim(line.substr(std::min(colon + 1, line.size())));
  bool hex = value.starts_with("hex:") || value.empty();
  if (value.starts_with("hex:")) value.remove_prefix(4);
  if (!hex || *bit == abi::kFeatureBranchStack)
    if (TRY(set_feature(*bit, value, features_))) return {};
  auto bytes = parse_hex_bytes(value);
  if (!bytes)
    return fail(ErrorCode::kCorrupt, "feature {}: hex bytes expected", abi::feature_name(*bit));
  open_hex_ = &(raw_features_[*bit] = std::move(*bytes));
  return {};
}

Result<> Assembler::take_behind(std::string_view line) {
  size_t colon = std::min(line.find(':'), line.size());
  uint64_t offset = TRY(number(line.substr(0, colon)));
  auto bytes = parse_hex_bytes(line.substr(std::min(colon + 1, line.size())));
  if (!bytes) return fail(ErrorCode::kCorrupt, "behind: hex bytes expected");
  open_hex_ = &dump_.behind(offset);
  *open_hex_ = std::move(*bytes);
  return {};
}

Result<> Assembler::take_raw(std::string_view hex) {
  auto bytes = parse_hex_bytes(hex);
  if (!bytes) return fail(ErrorCode::kCorrupt, "raw: hex bytes expected");
  pending_.bytes(*bytes);
  has_records_ = true;
  return {};
}

/// In a file, build ids are a section; in a pipe, they are records.
Result<> Assembler::take_build_id(std::string_view text) {
  if (is_pipe_) return assemble_record("BUILD_ID", text, events_, pending_);
  Fields fields = TRY(Fields::parse(text));
  BuildIdEntry entry;
  entry.misc = misc_of(fields);
  entry.pid = static_cast<int32_t>(fields.u64("pid", UINT64_MAX));
  entry.build_id = as_text(fields.bytes("id"));
  entry.path = fields.text("path");
  features_.build_ids.push_back(std::move(entry));
  return fields.finish();
}

Result<> Assembler::take_directive(std::string_view line) {
  auto value_of = [&](std::string_view key) -> std::optional<std::string_view> {
    if (!line.starts_with(key)) return std::nullopt;
    return trim(line.substr(key.size()));
  };
  if (auto value = value_of("order:")) return set_order(*value);
  if (auto value = value_of("compression:")) return set_compression(*value);
  if (auto value = value_of("raw:")) return take_raw(*value);
  if (auto value = value_of("feature ")) return take_feature(*value);
  if (auto value = value_of("behind ")) return take_behind(*value);
  if (auto value = value_of("event :")) {
    events_.push_back(TRY(parse_event_line(*value)));
    return {};
  }
  if (auto value = value_of("mode:")) {
    if (*value != "file" && *value != "pipe")
      return fail(ErrorCode::kCorrupt, "mode: file or pipe, not {}", *value);
    is_pipe_ = *value == "pipe";
    return {};
  }
  if (auto value = value_of("attr size:")) {
    uint64_t size = TRY(number(*value));
    if (size < abi::kAttrSizeVer0 || size > kMaxAttrSize)
      return fail(ErrorCode::kCorrupt, "attr size: expected {} to {}", abi::kAttrSizeVer0,
                  kMaxAttrSize);
    attr_size_ = static_cast<uint32_t>(size);
    return {};
  }
  if (auto value = value_of("data size:")) {
    stated_data_size_ = TRY(number(*value));
    return {};
  }
  if (auto value = value_of("truncate:")) {
    truncated_bytes_ = TRY(number(*value));
    return {};
  }
  size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::string_view name = line.substr(0, end);
  has_records_ = true;
  if (name == "BUILD_ID") return take_build_id(line.substr(end));
  return assemble_record(name, line.substr(end), events_, pending_);
}

Result<> Assembler::take_line(std::string_view line) {
  if (dump_.take_headline(line)) {
    open_hex_ = nullptr;
    return {};
  }
  if (dump_.started()) {
    dump_.take_hex_line(line);
    return {};
  }
  if (open_hex_ != nullptr && append_hex_line(line, *open_hex_)) return {};
  line = trim(line);
  constexpr std::string_view kEventComment = "# event : ";
  if (line.starts_with(kEventComment)) {
    events_.push_back(TRY(parse_event_line(line.substr(kEventComment.size()))));
    return {};
  }
  if (line.starts_with('#')) set_from_header_line(line, features_);
  if (line.empty() || line.starts_with('#')) return {};
  open_hex_ = nullptr;
  return take_directive(line);
}

std::vector<EncodedSection> Assembler::sections() {
  if (compressor_) {
    constexpr uint32_t kVersion = 1, kZstd = 1;
    uint64_t ratio = compressor_->bytes_in() / std::max<uint64_t>(compressor_->bytes_out(), 1);
    features_.compressed = CompressionInfo{kVersion, kZstd, first_level_,
                                           static_cast<uint32_t>(ratio), kCompressedRoom};
  }
  mark_present(features_);
  bool named = std::ranges::any_of(events_, [](const EventDesc& e) { return !e.name.empty(); });
  if (!named) std::erase(features_.present, uint32_t{abi::kFeatureEventDesc});
  std::erase_if(features_.present, [&](uint32_t bit) { return raw_features_.contains(bit); });
  std::vector<EncodedSection> sections = encode_sections(features_, events_, attr_size_, order_);
  for (const auto& [bit, bytes] : raw_features_) {
    EncodedSection section{bit, ByteBuilder(order_)};
    section.content.bytes(bytes);
    sections.push_back(std::move(section));
  }
  std::ranges::sort(sections, {}, &EncodedSection::bit);
  return sections;
}

Result<ByteBuilder> Assembler::lay_out_file() {
  ByteBuilder file(order_);
  FileLayout header = encode_prologue(events_, attr_size_, file);
  file.bytes(data_.view());
  header.data_size = stated_data_size_.value_or(data_.size());
  std::vector<EncodedSection> all = sections();
  for (const EncodedSection& section : all) header.features.push_back(section.bit);
  // A recorder that crashed has announced the sections but written nothing after its records.
  if (stated_data_size_ != uint64_t{0}) {
    ByteBuilder epilogue(order_);
    encode_epilogue(all, file.size(), epilogue);
    file.bytes(epilogue.view());
  }
  ByteBuilder start(order_);
  encode_file_header(header, start);
  ByteBuilder whole(order_);
  whole.bytes(start.view());
  whole.bytes(file.view().subspan(start.size()));
  return whole;
}

Result<ByteBuilder> Assembler::lay_out_pipe() {
  ByteBuilder file(order_);
  if (dump_.started()) {
    encode_pipe_header(file);
  } else {
    auto tracing = raw_features_.find(abi::kFeatureTracingData);
    if (tracing != raw_features_.end()) features_.tracing_data = tracing->second;
    mark_present(features_);
    if (!encode_pipe_prologue(features_, events_, file))
      return fail(ErrorCode::kCorrupt, "an event has too many ids for a pipe");
  }
  file.bytes(data_.view());
  return file;
}

Result<std::vector<std::byte>> Assembler::finish() {
  if (dump_.started()) {
    if (!has_records_ && dump_.order() != order_) TRY(set_order("big"));
    is_pipe_ = is_pipe_ || dump_.of_pipe();
    auto tracing = raw_features_.find(abi::kFeatureTracingData);
    dump_.put_records(tracing != raw_features_.end() ? Bytes(tracing->second) : Bytes(), pending_);
  }
  TRY(compress_pending());
  if (attr_size_ == 0) attr_size_ = stored_attr_size(events_);
  ByteBuilder file = TRY(is_pipe_ ? lay_out_pipe() : lay_out_file());
  if (!is_pipe_ && events_.empty())
    return fail(ErrorCode::kCorrupt,
                "no event is described: put 'event :' lines before the records (a dump made with "
                "--header has them)");
  Bytes bytes = file.view();
  bytes = bytes.first(bytes.size() - std::min<uint64_t>(bytes.size(), truncated_bytes_));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace

Result<std::vector<std::byte>> assemble(std::string_view text) {
  Assembler assembler;
  Lines lines(text);
  for (std::string_view line; lines.next(line);) {
    if (Result<> taken = assembler.take_line(line); !taken)
      return fail(taken.error().code, "line {}: {}", lines.number(), taken.error());
  }
  return assembler.finish();
}

}  // namespace sonde
