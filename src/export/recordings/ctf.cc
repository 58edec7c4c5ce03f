#include "export/recordings/ctf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/foreign/code_text.h"
#include "base/output/overwriting.h"
#include "base/utf8.h"
#include "event/print_fmt/field_format.h"
#include "export/recordings/ctf_number.h"
#include "export/recordings/ctf_records.h"
#include "replay/fields/trace_formats.h"

namespace sonde {
namespace {

constexpr CtfNumber kAddress{.bits = 64, .is_hex = true};
constexpr CtfNumber kCount{.bits = 64};
constexpr CtfNumber kTask{.bits = 32, .is_signed = true};
constexpr CtfNumber kLength{.bits = 32};
constexpr CtfNumber kWord{.bits = 32, .is_hex = true};

/// The fields that samples have if their event asked for them, in this order.
struct SampleField {
  uint64_t sample_type;
  std::string_view name;
  CtfNumber type;
  uint64_t (*value)(const Sample& sample);
};
constexpr SampleField kSampleFields[] = {
    {abi::kSampleIp, "perf_ip", kAddress, [](const Sample& s) { return s.ip; }},
    {abi::kSampleTid, "perf_tid", kTask,
     [](const Sample& s) { return uint64_t{recorded_task(s.id.tid)}; }},
    {abi::kSampleTid, "perf_pid", kTask,
     [](const Sample& s) { return uint64_t{recorded_task(s.id.pid)}; }},
    {abi::kSampleId | abi::kSampleIdentifier, "perf_id", kCount,
     [](const Sample& s) { return s.id.id; }},
    {abi::kSampleStreamId, "perf_stream_id", kCount,
     [](const Sample& s) { return s.id.stream_id; }},
    {abi::kSamplePeriod, "perf_period", kCount, [](const Sample& s) { return s.period; }},
    {abi::kSampleWeightAny, "perf_weight", kCount, [](const Sample& s) { return s.weight; }},
    {abi::kSampleDataSrc, "perf_data_src", kCount, [](const Sample& s) { return s.data_src; }},
    {abi::kSampleTransaction, "perf_transaction", kCount,
     [](const Sample& s) { return s.transaction; }},
};

/// Reserved words of the metadata language get a leading "_", which readers strip.
std::string identifier(Identifiers& scope, std::string_view name) {
  static constexpr std::string_view kKeywords[] = {
      "align",          "callsite",  "char",     "clock",     "const",   "double",
      "enum",           "env",       "event",    "float",     "int",     "integer",
      "long",           "short",     "signed",   "stream",    "string",  "struct",
      "trace",          "typealias", "typedef",  "unsigned",  "variant", "void",
      "floating_point", "_Bool",     "_Complex", "_Imaginary"};
  bool is_keyword = std::ranges::find(kKeywords, name) != std::end(kKeywords);
  return scope.add((is_keyword ? "_" : "") + std::string(name));
}

/// As a string literal of the metadata.
std::string ctf_string(std::string_view text) {
  std::string made = "\"";
  for (char c : to_utf8(text)) {
    if (c == '"' || c == '\\') made += '\\';
    made += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return made + '"';
}

/// The fields of one event, both in the metadata and in samples.
class CtfEvent {
 public:
  CtfEvent(const EventDesc& event, const TracepointFormat* format, ByteOrder order)
      : sample_type_(event.attr.sample_type),
        is_bpf_output_(event.attr.type == abi::kTypeSoftware &&
                       event.attr.config == abi::kSwBpfOutput),
        format_(format != nullptr && fits(*format) ? format : nullptr),
        order_(order) {}

  [[nodiscard]] std::string declaration() const {
    std::string text;
    Identifiers scope;
    auto add = [&](std::string_view type, std::string_view wanted, std::string_view after = "") {
      text += fmt::format("\t\t{} {}{};\n", type, identifier(scope, wanted), after);
    };
    auto add_sequence = [&](const CtfNumber& type, std::string_view name, std::string_view length) {
      std::string counted = identifier(scope, length);
      text += fmt::format("\t\t{} {};\n", kLength.text(), counted);
      add(type.text(), name, fmt::format("[{}]", counted));
    };
    for (const SampleField& field : kSampleFields)
      if ((sample_type_ & field.sample_type) != 0) add(field.type.text(), field.name);
    if (has_chain()) add_sequence(kAddress, "perf_callchain", "perf_callchain_size");
    if (is_bpf_output_) add_sequence(kWord, "raw_data", "raw_len");
    if (format_ == nullptr) return text;
    for (const TracepointField& field : format_->all_fields()) {
      const std::string& name = field.name;
      if (field.is_string)
        add("string { encoding = UTF8; }", name);
      else if (has_own_length(field))
        add_sequence(type_of(field), name, name + "_size");
      else if (field.is_array)
        add(type_of(field).text(), name, fmt::format("[{}]", elements_of(field, field.size)));
      else
        add(type_of(field).text(), name);
    }
    return text;
  }

  void append_fields(std::string& bytes, const Sample& sample) const {
    for (const SampleField& field : kSampleFields)
      if ((sample_type_ & field.sample_type) != 0) field.type.append(bytes, field.value(sample));
    if (has_chain()) {
      kLength.append(bytes, sample.callchain.size());
      for (size_t i = 0; i < sample.callchain.size(); ++i)
        kAddress.append(bytes, sample.callchain[i]);
    }
    if (is_bpf_output_) append_words(bytes, sample);
    if (format_ == nullptr) return;
    for (const TracepointField& field : format_->all_fields()) append_field(bytes, field, sample);
  }

 private:
  /// Fixed-size fields are always written in full, whether or not a sample has them. So those of a
  /// damaged format, which no sample could hold, must be refused: a record has at most 64 KiB.
  static bool fits(const TracepointFormat& format) {
    uint64_t size = 0;
    for (const TracepointField& field : format.all_fields()) size += field.size;
    return size <= UINT16_MAX;
  }
  [[nodiscard]] bool has_chain() const { return (sample_type_ & abi::kSampleCallchain) != 0; }
  static bool has_own_length(const TracepointField& field) {
    return field.is_array && (field.is_dynamic || field.is_flexible());
  }
  static size_t elements_of(const TracepointField& field, size_t bytes) {
    return field.element_size == 0 ? 0 : bytes / field.element_size;
  }
  static CtfNumber type_of(const TracepointField& field) {
    constexpr uint32_t kWide = 8;
    uint32_t size = field.is_array ? field.element_size : field.size;
    return {.bits = size == kWide ? 64u : 32u,
            .is_signed = field.is_signed,
            .is_hex = !field.is_signed && (field.is_long || field.is_pointer)};
  }

  void append_words(std::string& bytes, const Sample& sample) const {
    size_t words = sample.raw.size() / sizeof(uint32_t);
    kLength.append(bytes, words);
    for (size_t i = 0; i < words; ++i)
      kWord.append(bytes, load<uint32_t>(sample.raw.data() + i * sizeof(uint32_t), order_));
  }

  void append_field(std::string& bytes, const TracepointField& field, const Sample& sample) const {
    if (field.is_string) {
      append_utf8(bytes, field_string(field, sample.raw, order_).value_or(""));
      bytes += '\0';
    } else if (field.is_array) {
      append_array(bytes, field, sample);
    } else {
      type_of(field).append(bytes, field_number(field, sample.raw, order_).value_or(0));
    }
  }
  void append_array(std::string& bytes, const TracepointField& field, const Sample& sample) const {
    Bytes content = field_bytes(field, sample.raw, order_);
    size_t there = elements_of(field, content.size());
    size_t wanted = has_own_length(field) ? there : elements_of(field, field.size);
    if (has_own_length(field)) kLength.append(bytes, wanted);
    TracepointField element = field;
    element.is_array = element.is_dynamic = element.is_rel_dynamic = false;
    element.size = field.element_size;
    for (size_t i = 0; i < wanted; ++i) {
      element.offset = static_cast<uint32_t>(i * field.element_size);
      std::optional<uint64_t> value;
      if (i < there) value = field_number(element, content, order_);
      type_of(field).append(bytes, value.value_or(0));
    }
  }

  uint64_t sample_type_;
  bool is_bpf_output_;
  const TracepointFormat* format_;
  ByteOrder order_;
};

using Uuid = std::array<uint8_t, 16>;

/// A file of the trace: a new one, or one that we have made, to append to. Who else may write to
/// the directory can put links there at any time.
Result<Fd> open_part(int directory, const std::string& path, bool is_ours) {
  int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Fd file(::openat(directory, path.c_str() + path.rfind('/') + 1,
                   flags | (is_ours ? O_APPEND : O_CREAT | O_EXCL), 0640));
  if (!file.valid())
    return fail(ErrorCode::kIo, "failed to open {}: {}", path, std::strerror(errno));
  return file;
}

/// One CPU's events, on their way to its file.
class CtfStream {
 public:
  /// `directory`: of the trace, open; `path`: of the file in it.
  CtfStream(int directory, std::string path, uint32_t cpu)
      : directory_(directory), path_(std::move(path)), cpu_(cpu) {}

  void begin_event(uint32_t event, uint64_t time) {
    if (events_.empty()) begin_ = time;
    end_ = time;
    append_bytes(events_, event);
    append_bytes(events_, time);
  }
  std::string& bytes() { return events_; }
  [[nodiscard]] bool is_full() const { return events_.size() >= kPacketSize; }

  /// Appends a packet to the file; the first creates it anew.
  Result<uint64_t> write_packet(const Uuid& uuid) {
    constexpr uint32_t kMagic = 0xc1fc1fc1;
    constexpr uint64_t kBits = 8;
    std::string packet;
    append_bytes(packet, kMagic);
    packet.append(reinterpret_cast<const char*>(uuid.data()), uuid.size());
    append_bytes(packet, uint32_t{0});  // the only stream class
    append_bytes(packet, begin_);
    append_bytes(packet, end_);
    constexpr size_t kRest = 3 * sizeof(uint64_t) + sizeof(uint32_t);
    uint64_t size_bits = (packet.size() + kRest + events_.size()) * kBits;
    append_bytes(packet, size_bits);    // content size
    append_bytes(packet, size_bits);    // packet size
    append_bytes(packet, uint64_t{0});  // discarded events
    append_bytes(packet, cpu_);
    packet += events_;
    events_.clear();
    Fd file = TRY(open_part(directory_, path_, is_begun_));
    is_begun_ = true;
    TRY(write_all(file.get(), path_, as_bytes(packet)));
    return packet.size();
  }

 private:
  static constexpr size_t kPacketSize = size_t{256} * 1024;
  int directory_;
  std::string path_;
  uint32_t cpu_;
  std::string events_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  bool is_begun_ = false;
};

class CtfWriter {
 public:
  CtfWriter(const std::string& directory, const Session& session, bool with_records)
      : directory_(directory),
        session_(session),
        with_records_(with_records),
        formats_(session.recording()) {
    for (size_t i = 0; i < session.events().all().size(); ++i)
      events_.emplace_back(session.events().all()[i], formats_.of(EventId(i)),
                           session.recording().byte_order());
  }

  Result<uint64_t> write(uint64_t clock_offset_ns) {
    TRY(make_directory());
    std::string events = events_text();
    XXH128_hash_t hash = XXH3_128bits(events.data(), events.size());
    std::memcpy(uuid_.data(), &hash, uuid_.size());
    TRY(write_text(head_text(clock_offset_ns) + events));
    TRY(write_events());
    return written_;
  }

 private:
  /// A trace that is there already is replaced, with all of its streams; anything else is left
  /// alone.
  Result<> make_directory() {
    namespace fs = std::filesystem;
    bool is_new = ::mkdir(directory_.c_str(), 0750) == 0;
    if (!is_new && errno != EEXIST)
      return fail(ErrorCode::kIo, "failed to make the directory {}: {}", directory_,
                  std::strerror(errno));
    bool is_trace = !is_others_link(directory_);
    parts_ = Fd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (is_new && is_trace && parts_.valid()) return {};
    std::vector<std::string> files;
    std::error_code error;
    // The directory that is open: the name may lead elsewhere by now.
    for (fs::directory_iterator at(fmt::format("/proc/self/fd/{}", parts_.get()), error), end;
         !error && at != end; at.increment(error)) {
      std::string name = files.emplace_back(at->path().filename());
      bool is_part = name == "metadata" || name.starts_with("perf_stream_");
      is_trace &= is_part && fs::is_regular_file(at->symlink_status(error));
    }
    if (error || !is_trace)
      return fail(ErrorCode::kFailed,
                  "{}: it exists, and is no CTF trace, so it is left alone: move it, or name "
                  "another directory",
                  directory_);
    for (const std::string& file : files)
      if (::unlinkat(parts_.get(), file.c_str(), 0) != 0)
        return fail(ErrorCode::kIo, "failed to remove {}/{}: {}", directory_, file,
                    std::strerror(errno));
    return {};
  }

  [[nodiscard]] std::string uuid_text() const {
    std::string text;
    for (size_t i = 0; i < uuid_.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      text += fmt::format("{:02x}", uuid_[i]);
    }
    return text;
  }

  [[nodiscard]] std::string head_text(uint64_t clock_offset_ns) const {
    constexpr unsigned kByte = 8;
    std::string u32 = CtfNumber{.bits = 32}.text(kByte);
    std::string u64 = kCount.text(kByte);
    std::string time = u64;
    time.insert(time.size() - 1, "map = clock.perf_clock.value; ");
    std::string byte = u32;
    byte.replace(byte.find("32"), 2, "8");
    const Features& features = session_.recording().features();
    auto word = [](const std::optional<std::string>& value) {
      return ctf_string(value.value_or(""));
    };
    return fmt::format(
        "/* CTF 1.8 */\n\n"
        "trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{0}\";\n\tbyte_order = le;\n"
        "\tpacket.header := struct {{\n\t\t{1} magic;\n\t\t{2} uuid[16];\n\t\t{1} stream_id;\n"
        "\t}} align(8);\n}};\n\n"
        "env {{\n\thost = {3};\n\tsysname = \"Linux\";\n\trelease = {4};\n\tversion = {5};\n"
        "\tmachine = {6};\n\tdomain = \"kernel\";\n\ttracer_name = \"perf\";\n}};\n\n"
        "clock {{\n\tname = perf_clock;\n\tdescription = \"perf clock\";\n\tfreq = 1000000000;\n"
        "\tprecision = 10;\n\toffset_s = 0;\n\toffset = {7};\n\tabsolute = FALSE;\n}};\n\n"
        "stream {{\n\tid = 0;\n\tevent.header := struct {{\n\t\t{1} id;\n\t\t{8} timestamp;\n"
        "\t}} align(8);\n\n"
        "\tpacket.context := struct {{\n\t\t{9} timestamp_begin;\n\t\t{9} timestamp_end;\n"
        "\t\t{9} content_size;\n\t\t{9} packet_size;\n\t\t{9} events_discarded;\n"
        "\t\t{10} cpu_id;\n\t}} align(8);\n}};\n\n",
        uuid_text(), u32, byte, word(features.hostname), word(features.os_release),
        word(features.version), word(features.arch), clock_offset_ns, time, u64, kLength.text());
  }

  [[nodiscard]] std::string events_text() const {
    std::string text;
    for (size_t i = 0; i < events_.size(); ++i)
      text += fmt::format(
          "event {{\n\tid = {};\n\tname = {};\n\tstream_id = 0;\n\tfields := struct {{\n{}\t}};\n"
          "}};\n\n",
          i, ctf_string(session_.events().all()[i].name), events_[i].declaration());
    if (with_records_) text += ctf_record_declarations(events_.size());
    return text;
  }

  Result<> write_text(const std::string& text) {
    std::string path = directory_ + "/metadata";
    Fd file = TRY(open_part(parts_.get(), path, false));
    TRY(write_all(file.get(), path, as_bytes(text)));
    written_ += text.size();
    return {};
  }

  CtfStream& stream_of(uint32_t cpu) {
    constexpr uint32_t kMaxCpuCount = 1 << 16;  // more means damage, and would create as many files
    if (cpu >= kMaxCpuCount) cpu = 0;           // also if it is unknown
    auto found = streams_.find(cpu);
    if (found == streams_.end()) {
      std::string path = fmt::format("{}/perf_stream_{}", directory_, cpu);
      found = streams_.try_emplace(cpu, parts_.get(), std::move(path), cpu).first;
    }
    return found->second;
  }

  /// Samples and other records, in time order.
  Result<> write_events() {
    const SampleColumns& samples = session_.samples();
    std::vector<const OtherRecord*> records;
    if (with_records_)
      for (const OtherRecord& record : session_.other_records()) records.push_back(&record);
    std::ranges::stable_sort(records, {}, &OtherRecord::time);
    auto next = records.begin();
    for (uint32_t index : session_.time_order()) {
      for (; next != records.end() && (*next)->time <= samples.time[index]; ++next)
        TRY(write_record(**next));
      TRY(write_sample(index));
    }
    for (; next != records.end(); ++next) TRY(write_record(**next));
    for (auto& [cpu, stream] : streams_)
      if (!stream.bytes().empty()) written_ += TRY(stream.write_packet(uuid_));
    return {};
  }

  Result<> write_sample(uint32_t index) {
    const SampleColumns& samples = session_.samples();
    if (!session_.decode(index, sample_)) return {};
    CtfStream& stream = stream_of(samples.cpu[index]);
    stream.begin_event(samples.event[index], samples.time[index]);
    events_[samples.event[index]].append_fields(stream.bytes(), sample_);
    if (stream.is_full()) written_ += TRY(stream.write_packet(uuid_));
    return {};
  }

  Result<> write_record(const OtherRecord& record) {
    // Records that the recorder synthesised carry no event id: they go with the first event.
    EventId event = record.event.valid() ? record.event : EventId(size_t{0});
    if (session_.events().size() == 0) return {};
    const EventDesc& described = session_.events()[event];
    auto made = ctf_record_of(record.view, described.layout);
    if (!made) return {};
    CtfStream& stream = stream_of(0);  // as in perf, whatever CPU it was
    stream.begin_event(static_cast<uint32_t>(events_.size()) + made->kind, record.time);
    stream.bytes() += made->fields;
    if (stream.is_full()) written_ += TRY(stream.write_packet(uuid_));
    return {};
  }

  const std::string& directory_;
  Fd parts_;  // the directory
  const Session& session_;
  bool with_records_;
  TraceFormats formats_;
  std::vector<CtfEvent> events_;  // by EventId
  std::map<uint32_t, CtfStream> streams_;
  Sample sample_;  // the one being written
  Uuid uuid_{};
  uint64_t written_ = 0;
};

}  // namespace

Result<uint64_t> write_data_ctf(const std::string& directory, const Session& session,
                                CtfOptions options) {
  uint64_t offset_ns = 0;
  if (options.wall_clock) {
    const auto& clock = session.recording().features().clock_data;
    if (!clock)
      return fail(
          ErrorCode::kUnsupported,
          "--tod: the recording does not say what the time of day was: record with -k CLOCK");
    offset_ns = clock->wall_clock_ns - clock->clockid_ns;
  }
  return CtfWriter(directory, session, options.all_records).write(offset_ns);
}

}  // namespace sonde
