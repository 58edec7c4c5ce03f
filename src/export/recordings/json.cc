#include "export/recordings/json.h"

#include <ctime>

#include "base/utf8.h"
#include "export/formats/export_tables.h"
#include "export/formats/json_parts.h"

namespace sonde {
namespace {

class DataJson {
 public:
  DataJson(Sink& out, const Session& session) : out_(out), session_(session) { make_texts(); }

  void write() {
    out_.write("{\"linux-perf-json-version\":1,\n\"headers\":{");
    out_.write_lines(headers());
    out_.write("},\n\"samples\":[");
    std::vector<uint32_t> order = session_.time_order();
    write_in_pieces(out_, order.size(), [&] {
      return [&, sample = Sample()](size_t i, std::string& text) mutable {
        text += i == 0 ? "\n" : ",\n";
        append_sample(order[i], sample, text);
      };
    });
    out_.write("\n]}\n");
  }

 private:
  /// Prepares what follows each frame's address.
  void make_texts() {
    const std::vector<Frame>& frames = session_.frames();
    texts_.resize(frames.size());
    parallel_for(frames.size(), [&](size_t i) { texts_[i] = text_of(frames[i]); });
    comms_.resize(session_.strings().size());
    for (StringId comm : session_.samples().comm)
      if (comm.valid() && comms_[comm.index()].empty())
        append_json_string(comms_[comm.index()], session_.strings().view(comm));
  }
  [[nodiscard]] std::string text_of(const Frame& frame) const {
    std::string text = "\"";
    if (frame.symbol.valid()) {
      append_member(text, "symbol", session_.symbolizer().name(frame.symbol));
      if (frame.dso.valid())
        append_member(text, "dso", session_.machine().dsos()[frame.dso].short_name);
    }
    return text + "}";
  }

  [[nodiscard]] std::string headers() const {
    const FileFacts& facts = session_.recording().facts();
    const Features& features = session_.recording().features();
    std::string text;
    auto number = [&](std::string_view name, uint64_t value) {
      append_key(text, name);
      append_number(text, value);
    };
    auto word = [&](std::string_view name, const std::optional<std::string>& value) {
      if (value) append_member(text, name, *value);
    };
    number("header-version", facts.header_version - 1);  // perf counts them from 0
    word("captured-on", captured_on(facts.modified_ns));
    number("data-offset", facts.data_offset);
    number("data-size", facts.data_size);
    number("feat-offset", facts.feature_offset);
    word("hostname", features.hostname);
    word("os-release", features.os_release);
    word("arch", features.arch);
    word("cpu-desc", features.cpu_desc);
    word("cpuid", features.cpu_id);
    if (features.cpus_online) number("nrcpus-online", *features.cpus_online);
    if (features.cpus_available) number("nrcpus-avail", *features.cpus_available);
    word("perf-version", features.version);
    if (features.clock_data) {
      number("clockid", features.clock_data->clockid);
      number("clock-time", features.clock_data->clockid_ns);
      number("real-time", features.clock_data->wall_clock_ns);
    }
    if (!features.command_line.empty()) {
      append_key(text, "cmdline");
      char before = '[';
      for (const std::string& argument : features.command_line) {
        text += std::exchange(before, ',');
        append_json_string(text, argument);
      }
      text += ']';
    }
    return text;
  }
  static std::optional<std::string> captured_on(int64_t since_epoch_ns) {
    if (since_epoch_ns == 0) return std::nullopt;
    std::time_t seconds = since_epoch_ns / 1'000'000'000;
    std::tm parts{};
    char text[32] = "";
    if (gmtime_r(&seconds, &parts) == nullptr) return std::nullopt;
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
  }

  void append_sample(uint32_t index, Sample& sample, std::string& text) const {
    const SampleColumns& samples = session_.samples();
    text += "{\"timestamp\":";
    append_number(text, samples.time[index]);
    text += ",\"pid\":";
    append_number(text, recorded_task(samples.pid[index]));
    text += ",\"tid\":";
    append_number(text, recorded_task(samples.tid[index]));
    if (samples.cpu[index] != UINT32_MAX) {
      text += ",\"cpu\":";
      append_number(text, samples.cpu[index]);
    }
    text += ",\"comm\":";
    StringId comm = samples.comm[index];
    text += comm.valid() ? std::string_view(comms_[comm.index()]) : "\"\"";
    text += ",\"callchain\":[";
    if (session_.decode(index, sample)) append_chain(index, sample, text);
    text += "]}";
  }

  static void append_address(uint64_t address, std::string& text) {
    if (text.back() != '[') text += ',';
    text += "{\"ip\":\"0x";
    char digits[16];
    char* at = std::end(digits);
    do *--at = "0123456789abcdef"[address & 0xf];
    while ((address >>= 4) != 0);
    text.append(at, std::end(digits));
  }

  /// Addresses as recorded, with the frames that the replay found for them. If it has other frames
  /// (from a copied stack or from branches), each address is looked up separately.
  void append_chain(uint32_t index, const Sample& sample, std::string& text) const {
    const SampleColumns& samples = session_.samples();
    const EventDesc& event = session_.events()[EventId(samples.event[index])];
    if ((event.attr.sample_type & abi::kSampleCallchain) == 0) {
      append_address(sample.ip, text);
      FrameId leaf = samples.leaf[index];
      text += leaf.valid() ? std::string_view(texts_[leaf.index()]) : "\"}";
      return;
    }
    std::span<const FrameId> frames;
    if (samples.chain[index].valid()) frames = session_.chains()[samples.chain[index]];
    bool is_known = frames.size() == addresses_in(sample.callchain);
    size_t next = 0;
    uint16_t mode = sample.cpu_mode;
    for (size_t i = 0; i < sample.callchain.size(); ++i) {
      uint64_t address = sample.callchain[i];
      if (is_marker(address)) {
        mode = mode_of(address, mode);
        continue;
      }
      append_address(address, text);
      if (is_known)
        text += texts_[frames[next++].index()];
      else
        text += text_of(
            session_.resolve(samples.pid[index], samples.time[index], RuntimeAddr(address), mode));
    }
  }
  static bool is_marker(uint64_t address) { return abi::is_callchain_context(address); }
  static size_t addresses_in(const WordView& chain) {
    size_t count = 0;
    for (size_t i = 0; i < chain.size(); ++i) count += is_marker(chain[i]) ? 0 : 1;
    return count;
  }
  static uint16_t mode_of(uint64_t marker, uint16_t before) {
    switch (marker) {
      case abi::kContextKernel:
        return abi::kMiscKernel;
      case abi::kContextUser:
        return abi::kMiscUser;
      default:
        return before;
    }
  }

  Sink& out_;
  const Session& session_;
  std::vector<std::string> texts_;  // by FrameId
  std::vector<std::string> comms_;  // by StringId, as JSON
};

}  // namespace

void write_data_json(Sink& out, const Session& session) {
  DataJson(out, session).write();
}

}  // namespace sonde
