#include "perfdata/write/writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "perfdata/header/file_layout.h"
#include "perfdata/write/recording_place.h"

namespace sonde {
namespace {

// The default of perf's -m. perf can't expand records from rings larger than the buffer size named
// in the header.
constexpr uint32_t kDefaultMmapLength = 512 * 1024;

void mark(Features& features, uint32_t bit) {
  auto at = std::ranges::lower_bound(features.present, bit);
  if (at == features.present.end() || *at != bit) features.present.insert(at, bit);
}

/// What is not needed to make sense of the samples: left out first where there is no room.
constexpr uint32_t kDispensable[] = {abi::kFeatureCpuTopology, abi::kFeatureNumaTopology,
                                     abi::kFeatureCache,       abi::kFeatureMemTopology,
                                     abi::kFeatureBpfProgInfo, abi::kFeatureBpfBtf,
                                     abi::kFeaturePmuCaps,     abi::kFeatureCpuDomainInfo};

}  // namespace

struct PerfDataWriter::State {
  WriterOptions options;
  std::string path;
  bool is_pipe = false;
  std::vector<EventDesc> events;
  FileLayout header;
  std::vector<EncodedSection> early;  // in front of the records
  std::unique_ptr<RecordStream> main;
  std::vector<std::unique_ptr<RecordStream>> streams;

  Result<std::unique_ptr<RecordStream>> open_stream(Fd fd, const std::string& name) const {
    auto stream = std::make_unique<RecordStream>(*options.sys, std::move(fd), name, !is_pipe);
    if (options.compression_level > 0) {
      stream->compressor_ = TRY(RecordCompressor::create(options.compression_level));
      stream->compress_limit_ = mmap_length();
    }
    return stream;
  }
  [[nodiscard]] uint32_t mmap_length() const {
    return options.mmap_length != 0 ? options.mmap_length : kDefaultMmapLength;
  }
  [[nodiscard]] std::pair<uint64_t, uint64_t> compression_in_out() const {
    uint64_t in = 0, out = 0;
    auto add = [&](const RecordStream& stream) {
      if (!stream.compressor_) return;
      in += stream.compressor_->bytes_in();
      out += stream.compressor_->bytes_out();
    };
    add(*main);
    for (const auto& stream : streams) add(*stream);
    return {in, out};
  }
  [[nodiscard]] Features completed(const Features& features) const;
  void encode_early(const Features& known);
  void point_to_early(std::vector<EncodedSection>& sections) const;
  void write_epilogue(Features features);
  [[nodiscard]] bool leave_out(Features& features, uint64_t epilogue_bytes) const;
  bool give_back(uint64_t bytes, int error);
  void write_header();
};

/// The features, with what the writer itself knows added.
Features PerfDataWriter::State::completed(const Features& features) const {
  Features all = features;
  if (options.compression_level > 0) {
    auto [in, out] = compression_in_out();
    constexpr uint32_t kVersion = 1, kZstd = 1;
    uint64_t ratio = out == 0 ? 0 : (in + out / 2) / out;
    all.compressed =
        CompressionInfo{kVersion, kZstd, static_cast<uint32_t>(options.compression_level),
                        static_cast<uint32_t>(ratio), mmap_length()};
    mark(all, abi::kFeatureCompressed);
  }
  if (!streams.empty()) {
    all.dir_format_version = 1;
    mark(all, abi::kFeatureDirFormat);
  }
  return all;
}

/// BPF programs come and go while the recording lasts, and their section can be large: it would be
/// there twice.
void PerfDataWriter::State::encode_early(const Features& known) {
  early = encode_sections(known, events, stored_attr_size(events), kHostOrder);
  std::erase_if(early, [](const EncodedSection& section) {
    return section.bit == abi::kFeatureBpfProgInfo || section.bit == abi::kFeatureBpfBtf;
  });
}

/// Those that are still the same need not be written again.
void PerfDataWriter::State::point_to_early(std::vector<EncodedSection>& sections) const {
  for (EncodedSection& section : sections)
    for (const EncodedSection& there : early)
      if (there.bit == section.bit &&
          std::ranges::equal(there.content.view(), section.content.view()))
        section.stored_at = there.stored_at;
}

/// Writes table and sections. Where they do not fit, some are left out if they are many beside the
/// data, and then data is dropped from the end, record by record.
void PerfDataWriter::State::write_epilogue(Features features) {
  RecordStream& stream = *main;
  while (true) {
    uint64_t begin = stream.end_of_file();
    std::erase_if(features.auxtrace_index, [&](const AuxtraceIndexEntry& entry) {
      return entry.file_offset + entry.size > begin;
    });
    std::vector<EncodedSection> sections =
        encode_sections(features, events, header.attr_size, kHostOrder);
    point_to_early(sections);
    header.features.clear();
    for (const EncodedSection& section : sections) header.features.push_back(section.bit);
    ByteBuilder epilogue;
    encode_epilogue(sections, begin, epilogue);
    RecordStream::Stored stored = stream.store_at(begin, epilogue.view());
    if (stored.error == 0) return;
    if (!stream.error_)
      stream.error_ = room_error(
          path, stored.error, "it can be read, but lacks its last records or parts of its header");
    (void)::ftruncate(stream.fd_.get(), static_cast<off_t>(begin));
    if (!is_want_of_room(stored.error)) break;
    if (leave_out(features, epilogue.size())) continue;
    // A page more, because files end within one.
    constexpr uint64_t kPage = 4096;
    if (give_back(epilogue.size() - stored.bytes + kPage, stored.error)) continue;
    if (sections.empty()) break;
    auto largest = std::ranges::max_element(
        sections, {}, [](const EncodedSection& section) { return section.content.size(); });
    std::erase(features.present, largest->bit);
  }
  header.features.clear();
}

/// Leaves out what is dispensable, if the sections are large beside the data.
bool PerfDataWriter::State::leave_out(Features& features, uint64_t epilogue_bytes) const {
  constexpr uint64_t kShare = 16;
  uint64_t data = main->on_disk_;
  for (const auto& stream : streams) data += stream->on_disk_;
  if (epilogue_bytes < data / kShare) return false;
  return std::erase_if(features.present, [](uint32_t bit) {
           return std::ranges::find(kDispensable, bit) != std::end(kDispensable);
         }) > 0;
}

/// Gives up records for the sake of the sections: in a directory those of the longest stream, since
/// without the mappings of `data` samples mean little. A limit on files concerns each by itself.
bool PerfDataWriter::State::give_back(uint64_t bytes, int error) {
  RecordStream* longest = nullptr;
  for (const auto& stream : streams)
    if (longest == nullptr || stream->on_disk_ > longest->on_disk_) longest = stream.get();
  if (longest != nullptr && error != EFBIG && longest->shrink(bytes)) return true;
  return main->shrink(bytes);
}

void PerfDataWriter::State::write_header() {
  header.data_size = main->on_disk_;
  ByteBuilder bytes;
  encode_file_header(header, bytes);
  // Overwrites existing bytes, so a full disk doesn't matter; if it fails anyway, the file reads
  // like that of a recorder that was killed.
  if (::pwrite(main->fd_.get(), bytes.view().data(), bytes.size(), 0) < 0 && !main->error_)
    main->error_ = Error{ErrorCode::kIo, fmt::format("failed to write the header of {}: {}", path,
                                                     std::strerror(errno))};
}

Result<PerfDataWriter> PerfDataWriter::create(const std::string& path,
                                              const WriterOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->path = path;
  bool is_directory = options.directory_streams != 0 || options.directory;
  TRY(clear_recording_place(path, is_directory));
  if (!is_directory) {
    Fd fd = TRY(open_recording_file_anew(*options.sys, path));
    state->main = TRY(state->open_stream(std::move(fd), path));
    return PerfDataWriter(std::move(state));
  }
  if (::mkdir(path.c_str(), S_IRWXU) != 0)
    return fail(ErrorCode::kIo, "failed to create {}: {}", path, std::strerror(errno));
  std::string data = path + "/data";
  Fd main = TRY(open_recording_file_anew(*options.sys, data));
  state->main = TRY(state->open_stream(std::move(main), data));
  for (uint32_t i = 0; i < options.directory_streams; ++i) {
    std::string name = fmt::format("{}.{}", data, i);
    Fd fd = TRY(open_recording_file_anew(*options.sys, name));
    state->streams.push_back(TRY(state->open_stream(std::move(fd), name)));
  }
  return PerfDataWriter(std::move(state));
}

Result<PerfDataWriter> PerfDataWriter::pipe(Fd fd, std::string name, const WriterOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->path = std::move(name);
  state->is_pipe = true;
  state->main = TRY(state->open_stream(std::move(fd), state->path));
  return PerfDataWriter(std::move(state));
}

PerfDataWriter::PerfDataWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PerfDataWriter::PerfDataWriter(PerfDataWriter&&) noexcept = default;
PerfDataWriter& PerfDataWriter::operator=(PerfDataWriter&&) noexcept = default;
PerfDataWriter::~PerfDataWriter() = default;

Result<> PerfDataWriter::begin(std::vector<EventDesc> events, const Features& known) {
  state_->events = std::move(events);
  ByteBuilder prologue;
  if (state_->is_pipe) {
    if (!encode_pipe_prologue(state_->completed(known), state_->events, prologue))
      return fail(ErrorCode::kUnsupported,
                  "an event has too many ids for a pipe: record fewer threads or CPUs, or to a "
                  "file");
    return state_->main->put_prologue(prologue.view());
  }
  state_->encode_early(known);
  state_->header =
      encode_prologue(state_->events, stored_attr_size(state_->events), prologue, state_->early);
  return state_->main->put_prologue(prologue.view());
}

RecordStream& PerfDataWriter::main() {
  return *state_->main;
}

RecordStream& PerfDataWriter::stream(size_t index) {
  return *state_->streams[index];
}

Result<> PerfDataWriter::finish(const Features& features) {
  std::optional<Error> first;
  auto note = [&](const std::optional<Error>& error) {
    if (!first && error) first = error;
  };
  auto flush = [&](RecordStream& stream) {
    (void)stream.flush();
    note(stream.error_);
  };
  flush(*state_->main);
  for (const auto& stream : state_->streams) flush(*stream);
  // Without its beginning it is empty, and another run may use the name.
  bool has_begun = state_->is_pipe || state_->main->prologue_size_ > 0;
  if (!state_->is_pipe && has_begun) {
    state_->write_epilogue(state_->completed(features));
    state_->write_header();
    note(state_->main->error_);
  }
  if (first) return std::unexpected(*first);
  return {};
}

uint64_t PerfDataWriter::bytes_written() const {
  uint64_t bytes = state_->main->bytes_written();
  for (const auto& stream : state_->streams) bytes += stream->bytes_written();
  return bytes;
}

std::pair<uint64_t, uint64_t> PerfDataWriter::compression_in_out() const {
  return state_->compression_in_out();
}

bool PerfDataWriter::is_pipe() const {
  return state_->is_pipe;
}

const std::string& PerfDataWriter::path() const {
  return state_->path;
}

void mark_present(Features& features) {
  auto mark_if = [&](bool there, uint32_t bit) {
    if (there) mark(features, bit);
  };
  mark_if(!features.tracing_data.empty(), abi::kFeatureTracingData);
  mark_if(!features.build_ids.empty(), abi::kFeatureBuildId);
  mark_if(features.hostname.has_value(), abi::kFeatureHostname);
  mark_if(features.os_release.has_value(), abi::kFeatureOsRelease);
  mark_if(features.version.has_value(), abi::kFeatureVersion);
  mark_if(features.arch.has_value(), abi::kFeatureArch);
  mark_if(features.cpus_available.has_value(), abi::kFeatureNrCpus);
  mark_if(features.cpu_desc.has_value(), abi::kFeatureCpuDesc);
  mark_if(features.cpu_id.has_value(), abi::kFeatureCpuId);
  mark_if(features.total_mem_kb.has_value(), abi::kFeatureTotalMem);
  mark_if(!features.command_line.empty(), abi::kFeatureCmdline);
  mark_if(true, abi::kFeatureEventDesc);
  mark_if(features.cpu_topology.has_value(), abi::kFeatureCpuTopology);
  mark_if(!features.numa.empty(), abi::kFeatureNumaTopology);
  mark_if(features.branch_stack, abi::kFeatureBranchStack);
  mark_if(!features.pmu_mappings.empty(), abi::kFeaturePmuMappings);
  mark_if(!features.groups.empty(), abi::kFeatureGroupDesc);
  mark_if(!features.auxtrace_index.empty(), abi::kFeatureAuxtrace);
  mark_if(!features.caches.empty(), abi::kFeatureCache);
  mark_if(features.sample_time.has_value(), abi::kFeatureSampleTime);
  mark_if(features.mem_topology.has_value(), abi::kFeatureMemTopology);
  mark_if(features.clock_resolution_ns.has_value(), abi::kFeatureClockId);
  mark_if(features.clock_data.has_value(), abi::kFeatureClockData);
  mark_if(features.dir_format_version.has_value(), abi::kFeatureDirFormat);
  mark_if(!features.bpf_programs.empty(), abi::kFeatureBpfProgInfo);
  mark_if(!features.bpf_btf.empty(), abi::kFeatureBpfBtf);
  mark_if(features.compressed.has_value(), abi::kFeatureCompressed);
  mark_if(!features.hybrid_pmus.empty(), abi::kFeatureHybridTopology);
  mark_if(!features.pmu_caps.empty(), abi::kFeaturePmuCaps);
  mark_if(features.sched_domains.has_value(), abi::kFeatureCpuDomainInfo);
  mark_if(!features.interpreted_files.empty(), abi::kFeatureInterpretedFiles);
}

}  // namespace sonde
