#include "script/dlfilters/sample_answers.h"

#include <algorithm>
#include <cstring>

#include "abi/data_source.h"
#include "replay/frames/code_space.h"
#include "script/frame_texts.h"
#include "script/sample_target.h"

namespace sonde {
namespace {

bool is_kernel_address(uint64_t address) {
  return static_cast<int64_t>(address) < 0;
}

template <typename Text>
std::string& kept(std::map<uint32_t, std::string>& texts, uint32_t id, const Text& text) {
  auto found = texts.find(id);
  return found == texts.end() ? texts.emplace(id, text()).first->second : found->second;
}

}  // namespace

SampleAnswers::SampleAnswers(Session& session, bool show_kernel_path)
    : session_(session),
      show_kernel_path_(show_kernel_path),
      code_(session,
            abi::arch_from_machine(session.recording().features().arch.value_or("x86_64"))) {}

bool SampleAnswers::enter(uint32_t index) {
  index_ = index;
  sample_ = {};
  if (!session_.decode(index, sample_)) return false;
  const EventDesc& event = session_.events()[EventId(size_t{session_.samples().event[index]})];
  fields_ = {};
  fields_.size = sizeof fields_;
  fields_.event = event.name.c_str();
  set_numbers(event.attr);
  set_memory();
  return true;
}

void SampleAnswers::set_numbers(const abi::EventAttr& attr) {
  const SampleId& who = sample_.id;
  fields_.ins_lat = sample_.ins_latency;
  fields_.p_stage_cyc = sample_.p_stage_cycles;
  fields_.ip = sample_.ip;
  fields_.pid = static_cast<int32_t>(recorded_task(who.pid));
  fields_.tid = static_cast<int32_t>(recorded_task(who.tid));
  fields_.time = who.time;
  fields_.addr = sample_.addr;
  bool has_id = attr.samples(abi::kSampleId) || attr.samples(abi::kSampleIdentifier);
  fields_.id = has_id ? who.id : UINT64_MAX;
  fields_.stream_id = attr.samples(abi::kSampleStreamId) ? who.stream_id : UINT64_MAX;
  fields_.period = sample_.period;
  fields_.weight = sample_.weight;
  fields_.transaction = sample_.transaction;
  fields_.cpu = static_cast<int32_t>(who.cpu);
  fields_.data_src = attr.samples(abi::kSampleDataSrc) ? sample_.data_src : abi::kNoDataSource;
  fields_.phys_addr = sample_.phys_addr;
  fields_.data_page_size = sample_.data_page_size;
  fields_.code_page_size = sample_.code_page_size;
  fields_.cgroup = sample_.cgroup;
  fields_.cpumode = static_cast<uint8_t>(sample_.cpu_mode);
  fields_.addr_correlates_sym = has_target(attr) ? 1 : 0;
  fields_.misc = sample_.misc;
  const GuestCpu* guest = session_.guest_cpu(index_);
  fields_.machine_pid = guest == nullptr ? 0 : static_cast<int32_t>(guest->machine_pid);
  fields_.vcpu = guest == nullptr ? -1 : static_cast<int32_t>(guest->vcpu);
}

void SampleAnswers::set_memory() {
  fields_.raw_size = static_cast<uint32_t>(sample_.raw.size());
  fields_.raw_data = sample_.raw.empty() ? nullptr : sample_.raw.data();
  chain_.clear();
  for (size_t i = 0; i < sample_.callchain.size(); ++i) chain_.push_back(sample_.callchain[i]);
  fields_.raw_callchain_nr = chain_.size();
  fields_.raw_callchain = chain_.empty() ? nullptr : reinterpret_cast<const __u64*>(chain_.data());
  branches_.resize(sample_.branch_count());
  for (size_t i = 0; i < branches_.size(); ++i) {
    abi::BranchEntry branch = sample_.branch(i);
    static_assert(sizeof branch == sizeof branches_[i]);
    std::memcpy(&branches_[i], &branch, sizeof branch);
  }
  fields_.brstack_nr = branches_.size();
  fields_.brstack = branches_.empty() ? nullptr : branches_.data();
}

const Frame& SampleAnswers::leaf() const {
  return session_.frame(session_.samples().leaf[index_]);
}

Frame SampleAnswers::frame_at(uint64_t address) const {
  const SampleColumns& columns = session_.samples();
  return target_frame(session_, columns.pid[index_], columns.time[index_], address,
                      sample_.cpu_mode);
}

/// Any address may be in an object that nothing was sampled in.
void SampleAnswers::load_new_objects() {
  size_t objects = session_.machine().dsos().size();
  if (std::exchange(objects_loaded_, objects) != objects) session_.load_all_symbols();
}

perf_dlfilter_al SampleAnswers::describe(const Frame& frame, uint64_t address) {
  perf_dlfilter_al place{};
  place.size = sizeof place;
  place.addr = frame.address;
  place.is_kernel_ip = is_kernel_address(address) ? 1 : 0;
  if (frame.symbol.valid()) describe_symbol(frame, place);
  if (frame.dso.valid()) describe_object(frame, place);
  return place;
}

void SampleAnswers::describe_symbol(const Frame& frame, perf_dlfilter_al& place) {
  SymbolInfo symbol = session_.symbolizer().info(frame.symbol);
  place.sym = kept(symbols_, frame.symbol.value, [&] { return std::string(symbol.name); }).c_str();
  place.sym_start = frame.symbol_start;
  place.sym_end = frame.symbol_start + (symbol.end - symbol.start);
  place.symoff = static_cast<uint32_t>(frame.address - frame.symbol_start);
  place.sym_binding = symbol.binding;
}

void SampleAnswers::describe_object(const Frame& frame, perf_dlfilter_al& place) {
  place.dso = kept(objects_, frame.dso.value, [&] {
                return std::string(dso_text(session_, frame.dso, show_kernel_path_));
              }).c_str();
  std::string& build_id =
      kept(build_ids_, frame.dso.value, [&] { return build_id_of(session_, frame.dso); });
  place.buildid_size = static_cast<uint32_t>(build_id.size());
  place.buildid = build_id.empty() ? nullptr : reinterpret_cast<uint8_t*>(build_id.data());
  Frame start = frame;
  start.address = 0;
  place.is_64_bit = code_.at(start, 1).is_64_bit ? 1 : 0;
}

perf_dlfilter_al SampleAnswers::ip_place(bool filtered) {
  perf_dlfilter_al place = describe(leaf(), sample_.ip);
  place.filtered = filtered ? 1 : 0;
  StringId comm = session_.samples().comm[index_];
  place.comm =
      kept(comms_, comm.value, [&] { return std::string(session_.strings().view(comm)); }).c_str();
  return place;
}

std::optional<perf_dlfilter_al> SampleAnswers::addr_place() {
  if (fields_.addr_correlates_sym == 0) return std::nullopt;
  return place_of(sample_.addr);
}

perf_dlfilter_al SampleAnswers::place_of(uint64_t address) {
  load_new_objects();
  return describe(frame_at(address), address);
}

Bytes SampleAnswers::instruction() const {
  CodeBytes::Code code = code_.at(leaf(), CodeBytes::kMaxLength);
  return code.bytes.first(code_.decode(code).length);
}

const char* SampleAnswers::source_file(uint32_t& line) {
  const Frame& frame = leaf();
  if (!frame.dso.valid()) return nullptr;
  std::optional<SourcePlace> place = session_.symbolizer().source_place(frame.dso, frame.address);
  if (!place) return nullptr;
  source_file_ = place->file;
  line = place->line;
  return source_file_.c_str();
}

perf_event_attr* SampleAnswers::attr() {
  const abi::EventAttr& recorded =
      session_.events()[EventId(size_t{session_.samples().event[index_]})].attr;
  attr_ = {};
  std::memcpy(&attr_, &recorded, std::min(sizeof attr_, sizeof recorded));
  return &attr_;
}

uint64_t SampleAnswers::left_in_mapping(uint64_t address, FrameLevel level) const {
  const SampleColumns& columns = session_.samples();
  const Machine& machine = session_.machine();
  uint64_t time = columns.time[index_];
  SpaceId space = space_of(machine, columns.pid[index_], time, level);
  if (!space.valid()) return 0;
  auto found = machine.space(space).find(RuntimeAddr(address), time);
  return found.mapping.valid() ? machine.mapping(found.mapping).end.value - address : 0;
}

Bytes SampleAnswers::code(uint64_t address, size_t size) const {
  Frame frame = frame_at(address);
  uint64_t left = left_in_mapping(address, frame.level);
  return code_.at(frame, std::min<uint64_t>(size, left)).bytes;
}

}  // namespace sonde
