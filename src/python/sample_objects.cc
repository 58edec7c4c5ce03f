#include "python/sample_objects.h"

#include <algorithm>
#include <cctype>

#include "abi/data_source.h"
#include "base/text.h"
#include "replay/frames/code_space.h"
#include "script/frame_texts.h"

namespace sonde::python {
namespace {

/// The size of perf_event_attr in perf 6.1, which scripts may take apart.
constexpr size_t kAttrSize = 128;

PyRef bytes_object(Bytes bytes) {
  return PyRef(py().PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<Py_ssize_t>(bytes.size())));
}

PyRef tuple_of(std::vector<PyRef> parts) {
  PyRef tuple(py().PyTuple_New(static_cast<Py_ssize_t>(parts.size())));
  for (size_t i = 0; i < parts.size(); ++i)
    if (tuple) py().PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), parts[i].release());
  return tuple;
}

/// The counters that were read with the sample, as (id, value, lost).
void put_read_values(PyObject* dict, const Sample& sample, uint64_t read_format) {
  PyRef values(py().PyList_New(0));
  const ReadBlock& read = sample.read;
  if ((read_format & abi::kFormatTotalTimeEnabled) != 0)
    put(dict, "time_enabled", number_object(read.time_enabled));
  if ((read_format & abi::kFormatTotalTimeRunning) != 0)
    put(dict, "time_running", number_object(read.time_running));
  auto add = [&](const ReadValue& value) {
    std::vector<PyRef> parts;
    parts.push_back(number_object(value.id));
    parts.push_back(number_object(value.value));
    parts.push_back(number_object(value.lost));
    append(values.get(), tuple_of(std::move(parts)));
  };
  bool is_group = (read_format & abi::kFormatGroup) != 0;
  if (!read.present && !is_group) add({});
  for (size_t i = 0; read.present && i < read.count; ++i) add(read.at(i));
  put(dict, "values", values);
}

/// The register letters of a branch: mispredicted, in a transaction, aborting it.
std::string_view prediction(const abi::BranchEntry& branch) {
  if (branch.mispredicted()) return "M";
  return branch.predicted() ? "P" : "-";
}

bool is_context_marker(uint64_t address) {
  return address >= static_cast<uint64_t>(-4095);
}

}  // namespace

Frame target_of(const Session& session, size_t index, const Sample& sample) {
  const SampleColumns& columns = session.samples();
  return target_frame(session, columns.pid[index], columns.time[index], sample.addr,
                      sample.cpu_mode);
}

std::vector<uint64_t> recorded_ips(const Session& session, std::span<const FrameId> frames,
                                   const Sample& sample) {
  std::vector<uint64_t> ips;
  for (size_t i = 0; i < sample.callchain.size(); ++i)
    if (!is_context_marker(sample.callchain[i])) ips.push_back(sample.callchain[i]);
  if (ips.size() == frames.size()) return ips;
  ips.clear();
  for (FrameId frame : frames) ips.push_back(session.frame(frame).address);
  return ips;
}

SampleObjects::SampleObjects(const Session& session)
    : session_(session),
      arch_(abi::arch_from_machine(session.recording().features().arch.value_or("x86_64"))) {}

PyObject* SampleObjects::name(SymbolId symbol) const {
  if (symbol.index() >= names_.size()) names_.resize(symbol.index() + 1);
  PyRef& known = names_[symbol.index()];
  if (!known) known = text_object(session_.symbolizer().name(symbol));
  return known.get();
}

PyObject* SampleObjects::dso_name(DsoId dso) const {
  if (dso.index() >= dsos_.size()) dsos_.resize(dso.index() + 1);
  PyRef& known = dsos_[dso.index()];
  if (!known) known = text_object(dso_text(session_, dso, false));
  return known.get();
}

PyRef SampleObjects::frame(const Place& place) const {
  PyRef dict(py().PyDict_New());
  const Frame& frame = place.frame;
  put(dict.get(), "ip", number_object(place.ip));
  if (frame.symbol.valid()) {
    SymbolInfo info = session_.symbolizer().info(frame.symbol);
    PyRef symbol(py().PyDict_New());
    put(symbol.get(), "start", number_object(frame.symbol_start));
    put(symbol.get(), "end", number_object(frame.symbol_start + (info.end - info.start)));
    put(symbol.get(), "binding", number_object(info.binding));
    put(symbol.get(), "name", PyRef::share(name(frame.symbol)));
    put(dict.get(), "sym", symbol);
    put(dict.get(), "sym_off", number_object(frame.address - frame.symbol_start));
  }
  if (frame.dso.valid()) put(dict.get(), "dso", PyRef::share(dso_name(frame.dso)));
  return dict;
}

PyRef SampleObjects::chain(size_t index, const Sample& sample) const {
  PyRef list(py().PyList_New(0));
  ChainId chain = session_.samples().chain_of(index);
  if (!chain.valid()) return list;
  std::span<const FrameId> frames = session_.chains()[chain];
  std::vector<uint64_t> ips = recorded_ips(session_, frames, sample);
  for (size_t i = 0; i < frames.size(); ++i)
    append(list.get(), frame({ips[i], session_.frame(frames[i])}));
  return list;
}

PyRef SampleObjects::registers(const SampleRegs& regs) const {
  std::string text;
  size_t word = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((regs.mask >> bit & 1) == 0 || word >= regs.words.size()) continue;
    std::string name(abi::register_name(arch_, bit));
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    fmt::format_to(std::back_inserter(text), "{:>5}:{:#x} ", name, regs.words[word++]);
  }
  return text_object(text);
}

PyRef SampleObjects::fields(size_t index, const Sample& sample) const {
  const SampleColumns& columns = session_.samples();
  const EventDesc& event = session_.events()[EventId(size_t{columns.event[index]})];
  PyRef fields(py().PyDict_New());
  PyObject* dict = fields.get();
  put(dict, "pid", number_object(recorded_task(columns.pid[index])));
  put(dict, "tid", number_object(recorded_task(columns.tid[index])));
  put(dict, "cpu", number_object(columns.cpu[index]));
  put(dict, "ip", number_object(sample.ip));
  put(dict, "time", number_object(sample.id.time));
  put(dict, "period", number_object(columns.period[index]));
  put(dict, "phys_addr", number_object(sample.phys_addr));
  put(dict, "addr", number_object(sample.addr));
  put_read_values(dict, sample, event.attr.read_format);
  put(dict, "weight", number_object(sample.weight));
  put(dict, "transaction", number_object(sample.transaction));
  uint64_t data_src =
      event.attr.samples(abi::kSampleDataSrc) ? sample.data_src : abi::kNoDataSource;
  put(dict, "datasrc", number_object(data_src));
  put(dict, "datasrc_decode", text_object(abi::data_source_text(data_src)));
  put(dict, "cpumode", number_object(sample.cpu_mode));
  if (has_target(event.attr)) {
    put(dict, "addr_correlates_sym", PyRef(py().PyBool_FromLong(1)));
    put_place(dict, "addr_", index, {sample.addr, target_of(session_, index, sample)});
  }
  return fields;
}

void SampleObjects::put_place(PyObject* dict, const std::string& prefix, size_t index,
                              const Place& place) const {
  const SampleColumns& columns = session_.samples();
  const Frame& frame = place.frame;
  if (!frame.dso.valid()) return;
  auto entry = [&](const char* name, const PyRef& value) {
    put(dict, (prefix + name).c_str(), value);
  };
  entry("dso", PyRef::share(dso_name(frame.dso)));
  const Machine& machine = session_.machine();
  entry("dso_bid", text_object(to_hex(machine.dsos()[frame.dso].build_id)));
  uint64_t time = columns.time[index];
  SpaceId space = space_of(machine, columns.pid[index], time, frame.level);
  if (space.valid()) {
    auto found = machine.space(space).find(RuntimeAddr(place.ip), time);
    if (found.mapping.valid()) {
      const Mapping& mapping = machine.mapping(found.mapping);
      entry("dso_map_start", number_object(mapping.start.value));
      entry("dso_map_end", number_object(mapping.end.value));
    }
  }
  if (!frame.symbol.valid()) return;
  entry("symbol", PyRef::share(name(frame.symbol)));
  entry("symoff", number_object(frame.address - frame.symbol_start));
}

void SampleObjects::put_branches(PyObject* dict, size_t index, const Sample& sample) const {
  PyRef stack(py().PyList_New(0));
  PyRef symbols(py().PyList_New(0));
  const SampleColumns& columns = session_.samples();
  auto frame_of = [&](uint64_t address) {
    uint16_t mode = static_cast<int64_t>(address) < 0 ? abi::kMiscKernel : abi::kMiscUser;
    return session_.resolve(columns.pid[index], columns.time[index], RuntimeAddr(address), mode);
  };
  auto symbol_text = [&](const Frame& frame) {
    if (!frame.symbol.valid()) return std::string("[unknown]");
    std::string text(session_.symbolizer().name(frame.symbol));
    uint64_t offset = frame.address - frame.symbol_start;
    return offset == 0 ? text : fmt::format("{}+{:#x}", text, offset);
  };
  for (size_t i = 0; i < sample.branch_count(); ++i) {
    abi::BranchEntry branch = sample.branch(i);
    Frame from = frame_of(branch.from), to = frame_of(branch.to);
    PyRef entry(py().PyDict_New());
    put(entry.get(), "from", number_object(branch.from));
    put(entry.get(), "to", number_object(branch.to));
    put(entry.get(), "mispred", PyRef(py().PyBool_FromLong(branch.mispredicted() ? 1 : 0)));
    put(entry.get(), "predicted", PyRef(py().PyBool_FromLong(branch.predicted() ? 1 : 0)));
    put(entry.get(), "in_tx", PyRef(py().PyBool_FromLong(branch.in_tx() ? 1 : 0)));
    put(entry.get(), "abort", PyRef(py().PyBool_FromLong(branch.aborted() ? 1 : 0)));
    put(entry.get(), "cycles", number_object(branch.cycles()));
    put(entry.get(), "from_dsoname", text_object(dso_text(session_, from.dso, false)));
    put(entry.get(), "to_dsoname", text_object(dso_text(session_, to.dso, false)));
    append(stack.get(), entry);
    PyRef names(py().PyDict_New());
    put(names.get(), "from", text_object(symbol_text(from)));
    put(names.get(), "to", text_object(symbol_text(to)));
    put(names.get(), "pred", text_object(prediction(branch)));
    put(names.get(), "in_tx", text_object(branch.in_tx() ? "X" : "-"));
    put(names.get(), "abort", text_object(branch.aborted() ? "A" : "-"));
    append(symbols.get(), names);
  }
  put(dict, "brstack", stack);
  put(dict, "brstacksym", symbols);
}

PyRef SampleObjects::dict(size_t index, const Sample& sample) const {
  const SampleColumns& columns = session_.samples();
  const EventDesc& event = session_.events()[EventId(size_t{columns.event[index]})];
  PyRef all(py().PyDict_New());
  PyObject* dict = all.get();
  put(dict, "ev_name", text_object(event.name));
  Bytes attr(reinterpret_cast<const std::byte*>(&event.attr), sizeof event.attr);
  put(dict, "attr", bytes_object(attr.first(kAttrSize)));
  put(dict, "sample", fields(index, sample));
  put(dict, "raw_buf", bytes_object(sample.raw));
  put(dict, "comm", text_object(session_.strings().view(columns.comm[index])));
  put_place(dict, "", index, {sample.ip, session_.frame(columns.leaf[index])});
  put(dict, "callchain", chain(index, sample));
  put_branches(dict, index, sample);
  put(dict, "iregs", registers(sample.regs_intr));
  put(dict, "uregs", registers(sample.regs_user));
  return all;
}

}  // namespace sonde::python
