#include <bit>

#include "perfdata/dump/dump.h"

namespace sonde::dump {
namespace {

std::string page_size_name(uint64_t size) {
  if (size == 0) return "N/A";
  constexpr const char* kUnits[] = {"B", "K", "M", "G", "T", "P"};
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); size /= 1024) ++unit;
  return fmt::format("{}{}", size, kUnits[unit]);
}

/// PERF_BR_*; values beyond 15 are in the second list.
std::string_view branch_type_name(const abi::BranchEntry& branch) {
  constexpr std::string_view kNames[] = {"",         "COND", "UNCOND",  "IND",    "CALL",
                                         "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
                                         "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX"};
  uint32_t type = branch.branch_type();
  return type < std::size(kNames) ? kNames[type] : "";
}

void put_branch_line(size_t i, const abi::BranchEntry& b, Sink& out) {
  constexpr uint32_t kReservedShift = 33;
  out.print("..... {:2}: {:016x} -> {:016x} {} cycles {}{}{}{} {:x} {}\n", i, b.from, b.to,
            b.cycles(), b.mispredicted() ? 'M' : ' ', b.predicted() ? 'P' : ' ',
            b.aborted() ? 'A' : ' ', b.in_tx() ? 'T' : ' ', b.flags >> kReservedShift,
            branch_type_name(b));
}

/// Prints a call stack from branch records: every `from` is a caller, the newest `to` is the
/// current position.
void put_branch_call_stack(const Sample& sample, Sink& out) {
  size_t count = sample.branch_count();
  out.print("... branch callstack: nr:{}\n", count + 1);
  for (size_t i = 0; i < count; ++i) {
    abi::BranchEntry branch = sample.branch(i);
    if (i == 0) out.print("..... {:2}: {:016x}\n", i, branch.to);
    out.print("..... {:2}: {:016x}\n", i + 1, branch.from);
  }
}

void put_branches(const Sample& sample, bool call_stack, Sink& out) {
  if (call_stack) return put_branch_call_stack(sample, out);
  out.print("... branch stack: nr:{}\n", sample.branch_count());
  for (size_t i = 0; i < sample.branch_count(); ++i) put_branch_line(i, sample.branch(i), out);
}

/// Prints what the hardware's branch records add to a chain that was made from them.
void put_lbr_chain(const Sample& sample, Sink& out) {
  size_t kernel = 0;
  while (kernel < sample.callchain.size() && sample.callchain[kernel] != abi::kContextUser)
    ++kernel;
  if (kernel == sample.callchain.size() || sample.branch_count() == 0) return;
  size_t total = kernel + sample.branch_count() + 1;
  out.print("... LBR call chain: nr:{}\n", total + 1);
  for (size_t i = 0; i <= kernel; ++i) out.print("..... {:2}: {:016x}\n", i, sample.callchain[i]);
  out.print("..... {:2}: {:016x}\n", kernel + 1, sample.branch(0).to);
  for (size_t i = 0; i < sample.branch_count(); ++i)
    out.print("..... {:2}: {:016x}\n", i + kernel + 2, sample.branch(i).from);
}

void put_chain(const Sample& sample, Sink& out) {
  out.print("... FP chain: nr:{}\n", sample.callchain.size());
  for (size_t i = 0; i < sample.callchain.size(); ++i)
    out.print("..... {:2}: {:016x}\n", i, sample.callchain[i]);
}

void put_registers(std::string_view whose, const SampleRegs& regs, abi::Arch arch, Sink& out) {
  if (regs.words.empty()) return;
  constexpr std::string_view kAbis[] = {"none", "32-bit", "64-bit"};
  std::string_view abi = regs.abi < std::size(kAbis) ? kAbis[regs.abi] : "unknown";
  out.print("... {} regs: mask 0x{:x} ABI {}\n", whose, regs.mask, abi);
  size_t word = 0;
  for (uint64_t mask = regs.mask; mask != 0; mask &= mask - 1)
    out.print(".... {:<5} 0x{:016x}\n",
              abi::register_name(arch, static_cast<unsigned>(std::countr_zero(mask))),
              regs.words[word++]);
}

/// The number of bytes after the user stack.
size_t size_behind_stack(const Sample& sample, const abi::EventAttr& attr) {
  size_t words = attr.samples(abi::kSampleWeightAny) ? 1 : 0;
  for (uint64_t bit :
       {abi::kSampleDataSrc, abi::kSampleTransaction, abi::kSampleRegsIntr, abi::kSamplePhysAddr,
        abi::kSampleCgroup, abi::kSampleDataPageSize, abi::kSampleCodePageSize, abi::kSampleAux})
    words += attr.samples(bit) ? 1 : 0;
  return (words + sample.regs_intr.words.size()) * 8 + sample.aux.size();
}

/// The offset printed is that of the size word, from the start of the record.
void put_user_stack(const Sample& sample, const abi::EventAttr& attr, Bytes record, Sink& out) {
  const std::byte* stack = sample.stack_user.data() == nullptr
                               ? record.data() + record.size() - size_behind_stack(sample, attr)
                               : sample.stack_user.data();
  out.print("... ustack: size {}, offset {:#x}\n", sample.stack_user.size(),
            stack - record.data() - 8);
}

void put_read_value(const ReadValue& value, uint64_t format, Sink& out) {
  out.print("..... id {:016x}, value {:016x}", value.id, value.value);
  if ((format & abi::kFormatLost) != 0) out.print(", lost {}", value.lost);
  out.put('\n');
}

void put_read(const ReadBlock& read, Sink& out) {
  uint64_t format = read.read_format;
  out.write("... sample_read:\n");
  if ((format & abi::kFormatTotalTimeEnabled) != 0)
    out.print("...... time enabled {:016x}\n", read.time_enabled);
  if ((format & abi::kFormatTotalTimeRunning) != 0)
    out.print("...... time running {:016x}\n", read.time_running);
  if ((format & abi::kFormatGroup) != 0) out.print(".... group nr {}\n", read.count);
  for (size_t i = 0; i < read.count; ++i) put_read_value(read.at(i), format, out);
}

void put_weight(const Sample& sample, bool is_struct, Sink& out) {
  out.print("... weight: {}", sample.weight);
  if (is_struct) out.print(",{:#x},{:#x}", sample.ins_latency, sample.p_stage_cycles);
  out.put('\n');
}

}  // namespace

void put_sample(const Sample& sample, const EventDesc& event, abi::Arch arch, Bytes record,
                Sink& out) {
  const abi::EventAttr& attr = event.attr;
  auto has = [&](uint64_t bit) { return attr.samples(bit); };
  bool call_stack = (attr.branch_sample_type & abi::kBranchCallStack) != 0;
  out.print("(IP, {:#x}): {}/{}: {} period: {} addr: {}\n", sample.misc,
            static_cast<int32_t>(sample.id.pid), static_cast<int32_t>(sample.id.tid),
            prefixed_hex(sample.ip), sample.period, prefixed_hex(sample.addr));
  if (has(abi::kSampleCallchain)) {
    if (call_stack) put_lbr_chain(sample, out);
    put_chain(sample, out);
  }
  if (has(abi::kSampleBranchStack)) put_branches(sample, call_stack, out);
  if (has(abi::kSampleRegsUser)) put_registers("user", sample.regs_user, arch, out);
  if (has(abi::kSampleRegsIntr)) put_registers("intr", sample.regs_intr, arch, out);
  if (has(abi::kSampleStackUser)) put_user_stack(sample, attr, record, out);
  if (has(abi::kSampleWeightAny)) put_weight(sample, has(abi::kSampleWeightStruct), out);
  if (has(abi::kSampleDataSrc)) out.print(" . data_src: 0x{:x}\n", sample.data_src);
  if (has(abi::kSamplePhysAddr)) out.print(" .. phys_addr: 0x{:x}\n", sample.phys_addr);
  if (has(abi::kSampleDataPageSize))
    out.print(" .. data page size: {}\n", page_size_name(sample.data_page_size));
  if (has(abi::kSampleCodePageSize))
    out.print(" .. code page size: {}\n", page_size_name(sample.code_page_size));
  if (has(abi::kSampleTransaction)) out.print("... transaction: {:x}\n", sample.transaction);
  if (has(abi::kSampleRead)) put_read(sample.read, out);
}

}  // namespace sonde::dump
