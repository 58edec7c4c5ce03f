// The call chains that libdw unwinds from a recording's copied stacks (x86-64), in the format of
// `script -F tid,time,ip`: for unwind_oracle.py to compare with Sonde's.
//
//   libdw_chains_dump perf.data
//
// What is mapped where, and which bytes are in which sample, is read by Sonde; the unwinding is
// libdw's alone.
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/env.h"
#include "base/sys.h"
#include "elf/elf_file.h"
#include "replay/frames/address_resolver.h"
#include "replay/session.h"
#include "unwind/callchain.h"

namespace sonde {
namespace {

constexpr size_t kRegisters = 17;  // DWARF's for x86-64: rax … r15 and rip

struct CloseDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

/// A process' objects, for libdw; and the sample being unwound.
class Process {
 public:
  Process(const Session& session, SpaceId space) : session_(session), space_(space) {
    static const Dwfl_Callbacks kFiles{.find_elf = nullptr,
                                       .find_debuginfo = dwfl_standard_find_debuginfo,
                                       .section_address = dwfl_offline_section_address,
                                       .debuginfo_path = nullptr};
    dwfl_.reset(dwfl_begin(&kFiles));
  }

  /// The user part of a sample's chain, leaf first; a caller's address is that of its call.
  std::vector<uint64_t> unwind(const Sample& sample, uint64_t time) {
    sample_ = &sample;
    time_ = time;
    chain_.clear();
    stack_ = sample.regs_user.get(7).value_or(0);
    uint64_t ip = sample.regs_user.get(8).value_or(0);
    report(ip);
    if (!is_attached_ && !attach()) return {ip};
    dwfl_getthread_frames(dwfl_.get(), kThread, take_frame, this);
    return chain_;
  }

 private:
  static constexpr pid_t kThread = 1;

  bool attach() {
    static const Dwfl_Thread_Callbacks kThreads{.next_thread = next_thread,
                                                .get_thread = nullptr,
                                                .memory_read = read_memory,
                                                .set_initial_registers = set_registers,
                                                .detach = nullptr,
                                                .thread_detach = nullptr};
    return is_attached_ = dwfl_attach_state(dwfl_.get(), nullptr, kThread, &kThreads, this);
  }

  /// Reports the object at an address to libdw. False if nothing is mapped there.
  bool report(uint64_t address) {
    if (dwfl_addrmodule(dwfl_.get(), address) != nullptr) return true;
    auto found = session_.machine().space(space_).find(RuntimeAddr(address), time_);
    if (!found.mapping.valid()) return false;
    const Mapping& mapping = session_.machine().mapping(found.mapping);
    const Dso& dso = session_.machine().dsos()[mapping.dso];
    if (dso.kind == DsoKind::kNoSymbols) return false;
    if (dso.kind != DsoKind::kFile) return true;
    auto elf = ElfFile::open(dso.path);
    if (!elf) return true;
    auto inside = elf->segments().addr_of(FileOffset(mapping.to_object(RuntimeAddr(address))));
    if (!inside) return true;
    dwfl_report_elf(dwfl_.get(), dso.short_name.c_str(), dso.path.c_str(), -1,
                    address - inside->value, true);
    return true;
  }

  static pid_t next_thread(Dwfl*, void* self, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = self;
    return kThread;
  }
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* self) {
    auto& process = *static_cast<Process*>(self);
    Bytes copy = process.sample_->stack_user;
    uint64_t offset = address - process.stack_;
    if (address < process.stack_ || offset > copy.size() || copy.size() - offset < 8) return false;
    *result = load<uint64_t>(copy.data() + offset, process.sample_->order);
    return true;
  }
  static bool set_registers(Dwfl_Thread* thread, void* self) {
    // perf's numbers, in DWARF's order.
    static constexpr uint32_t kNumbers[kRegisters] = {0,  3,  2,  1,  4,  5,  6,  7, 16,
                                                      17, 18, 19, 20, 21, 22, 23, 8};
    Dwarf_Word values[kRegisters];
    for (size_t i = 0; i < kRegisters; ++i)
      values[i] = static_cast<Process*>(self)->sample_->regs_user.get(kNumbers[i]).value_or(0);
    return dwfl_thread_state_registers(thread, 0, kRegisters, values);
  }
  static int take_frame(Dwfl_Frame* frame, void* self) {
    auto& process = *static_cast<Process*>(self);
    Dwarf_Addr pc = 0;
    bool is_exact = false;
    if (!dwfl_frame_pc(frame, &pc, &is_exact)) return DWARF_CB_ABORT;
    if (!process.report(pc)) return DWARF_CB_ABORT;  // not code: it went astray
    process.chain_.push_back(is_exact ? pc : pc - 1);
    return process.chain_.size() < 1024 ? DWARF_CB_OK : DWARF_CB_ABORT;
  }

  const Session& session_;
  SpaceId space_;
  std::unique_ptr<Dwfl, CloseDwfl> dwfl_;
  const Sample* sample_ = nullptr;
  uint64_t time_ = 0;
  uint64_t stack_ = 0;
  std::vector<uint64_t> chain_;
  bool is_attached_ = false;
};

void print(const Machine& machine, SpaceId space, uint64_t time, uint64_t address, uint16_t mode) {
  fmt::print("\t{:16x}\n", locate(machine, space, time, address, mode).address);
}

Result<> print_chains(const std::string& path, const Env& env) {
  SessionOptions options;
  options.open.force = true;
  options.want_symbols = false;
  options.chains.reset();
  Session session = TRY(Session::open(path, options, env));
  const Machine& machine = session.machine();
  std::map<uint32_t, std::unique_ptr<Process>> processes;
  for (uint32_t i : session.time_order()) {
    Sample sample;
    session.decode(i, sample);
    uint64_t time = session.samples().time[i];
    SpaceId space = machine.space_at(sample.id.pid, time).space;
    fmt::print("{} {}.{:06}:\n", sample.id.tid, time / 1'000'000'000, time % 1'000'000'000 / 1000);
    for_each_address(sample.callchain, [&](uint64_t ip, uint16_t mode) {
      if (mode == abi::kMiscKernel) print(machine, space, time, ip, mode);
    });
    if (sample.stack_user.empty() || !space.valid()) continue;
    auto& process = processes[space.value];
    if (process == nullptr) process = std::make_unique<Process>(session, space);
    for (uint64_t address : process->unwind(sample, time))
      print(machine, space, time, address, abi::kMiscUser);
  }
  return {};
}

}  // namespace
}  // namespace sonde

int main(int count, char** words) {
  using namespace sonde;
  if (count != 2) {
    fmt::print(stderr, "usage: libdw_chains_dump perf.data\n");
    return 2;
  }
  FdSink out(1), err(2);
  LossLedger losses;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  auto done = print_chains(words[1], env);
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
