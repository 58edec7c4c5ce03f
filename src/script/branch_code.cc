#include "script/branch_code.h"

#include <algorithm>

#include "base/printing/printable.h"

namespace sonde {
namespace {

constexpr uint64_t kMaxBlockLength = 16384 - CodeBytes::kMaxLength;
/// How far a block without an end is read: the sample is before its start, so a jump is missing.
constexpr uint64_t kLookAhead = 128;

bool is_kernel(uint64_t address) {
  return static_cast<int64_t>(address) < 0;
}

uint16_t mode_of(uint64_t address) {
  return is_kernel(address) ? abi::kMiscKernel : abi::kMiscUser;
}

}  // namespace

void BranchCode::print() {
  size_t count = sample_.branch_count();
  if (count == 0) return;
  if (style_.max_blocks > 0) count = std::min<size_t>(count, style_.max_blocks + size_t{1});
  out_ += '\n';
  print_oldest(count - 1);
  for (size_t i = count - 1; i-- > 0;) {
    uint64_t start = sample_.branch(i + 1).to;
    Found found = read_block(start, sample_.branch(i).from);
    // Branches into the kernel may be filtered out while branches back are not: continue after the
    // latter.
    if (found == Found::kCrossesIntoKernel && i > 0) {
      --i;
      found = read_block(start, sample_.branch(i).from);
    }
    if (found == Found::kBytes) print_block(start, sample_.branch(i).from, i);
  }
  abi::BranchEntry newest = sample_.branch(0);
  if (newest.from != sample_.ip && !newest.aborted()) print_last_block();
}

Frame BranchCode::frame_of(uint64_t address) const {
  return session_.resolve(sample_.id.pid, time_, RuntimeAddr(address), mode_of(address));
}

BranchCode::Found BranchCode::read_block(uint64_t start, uint64_t end) {
  if (start == 0 || end == 0) return Found::kNothing;
  if (is_kernel(start) != is_kernel(end)) return Found::kCrossesIntoKernel;
  if (end - start > kMaxBlockLength) return Found::kNothing;
  block_ = code_.at(frame_of(start), end - start + CodeBytes::kMaxLength);
  return block_.bytes.empty() ? Found::kNothing : Found::kBytes;
}

CodeBytes::Code BranchCode::rest(size_t offset) const {
  return {.bytes = block_.bytes.subspan(offset), .is_64_bit = block_.is_64_bit};
}

/// For the oldest branch only the branch itself is known, not the block before it.
void BranchCode::print_oldest(size_t branch) {
  uint64_t from = sample_.branch(branch).from;
  if (read_block(from, from) != Found::kBytes) return;
  put_symbol(from);
  put_branch(branch, 0, 0);
  put_source(from);
}

void BranchCode::print_block(uint64_t start, uint64_t end, size_t branch) {
  uint32_t instructions = 0;
  size_t offset = 0;
  while (offset < block_.bytes.size()) {
    uint64_t address = start + offset;
    put_symbol(address);
    if (address == end) {
      put_branch(branch, offset, instructions + 1);
      put_source(address);
      break;
    }
    size_t length = put_instruction(address, offset);
    out_ += '\n';
    if (length == 0) break;
    put_source(address);
    ++instructions;
    offset += length;
  }
  if (offset != end - start) out_ += "\tmismatch of LBR data and executable\n";
}

void BranchCode::print_last_block() {
  uint64_t start = sample_.branch(0).to;
  uint64_t end = sample_.ip < start ? start + kLookAhead : sample_.ip;
  Found found = read_block(start, end);
  put_symbol(start);
  if (found != Found::kBytes) return print_sampled_instruction();
  for (size_t offset = 0; offset <= end - start && offset < block_.bytes.size();) {
    size_t length = put_instruction(start + offset, offset);
    out_ += '\n';
    if (length == 0) return;
    if (code_.decode(rest(offset)).is_branch && start + offset != sample_.ip) {
      out_ += "\t... not reaching sample ...\n";
      return;
    }
    put_source(start + offset);
    offset += length;
  }
}

void BranchCode::print_sampled_instruction() {
  if (read_block(sample_.ip, sample_.ip) != Found::kBytes) return;
  put_instruction(sample_.ip, 0);
  out_ += '\n';
  put_source(sample_.ip);
}

/// Prints the function, if it differs from that of the previous line.
void BranchCode::put_symbol(uint64_t address) {
  Frame frame = frame_of(address);
  if (!frame.symbol.valid() || frame.symbol == symbol_) return;
  symbol_ = frame.symbol;
  size_t begin = out_.size();
  out_ += '\t';
  out_ += session_.symbolizer().name(frame.symbol);
  auto to = std::back_inserter(out_);
  if (frame.address != frame.symbol_start)
    fmt::format_to(to, "+{}", frame.address - frame.symbol_start);
  out_ += ':';
  if (style_.srclines)
    fmt::format_to(to, "\t{}", session_.symbolizer().srcline(frame.dso, frame.address));
  if (style_.is_shown) make_printable(out_, begin);
  out_ += '\n';
}

size_t BranchCode::put_instruction(uint64_t address, size_t offset) {
  CodeBytes::Code code = rest(offset);
  size_t length = code_.decode(code).length;
  fmt::format_to(std::back_inserter(out_), "\t{:016x}\t", address);
  out_ += instruction_at(address, code);
  if (style_.lengths) fmt::format_to(std::back_inserter(out_), "\tilen: {}", length);
  return length;
}

std::string BranchCode::instruction_at(uint64_t address, const CodeBytes::Code& code) const {
  std::string text;
  size_t length = code_.decode(code).length;
  if (style_.texts != nullptr && length > 0)
    style_.texts->append(code, {sample_.id.pid, time_, address, mode_of(address)}, text);
  else
    append_instruction(code.bytes.first(length), text);
  if (style_.is_shown) make_printable(text, 0);
  return text;
}

void BranchCode::put_counters(size_t branch) {
  if (style_.counted.empty() || branch >= sample_.branch_counters.size()) return;
  uint64_t word = sample_.branch_counters[branch];
  out_ += "br_cntr: ";
  size_t start = out_.size();
  for (const BranchCounters::Counter& counter : style_.counted) {
    uint64_t value = style_.counters->value(word, counter);
    std::string_view more = value == style_.counters->most() ? "+" : "";
    if (style_.counter_names)
      fmt::format_to(std::back_inserter(out_), "{} {}{} ", session_.events()[counter.event].name,
                     value, more);
    else
      out_.append(value, counter.letter).append(more);
  }
  if (out_.size() == start) out_ += '-';
  if (style_.is_shown) make_printable(out_, start);
  out_ += '\t';
}

void BranchCode::put_branch(size_t number, size_t offset, uint32_t instructions) {
  abi::BranchEntry branch = sample_.branch(number);
  CodeBytes::Code code = rest(offset);
  size_t length = code_.decode(code).length;
  std::string text = instruction_at(branch.from, code);
  auto to = std::back_inserter(out_);
  fmt::format_to(to, "\t{:016x}\t{:<30}\t", branch.from, text);
  if (style_.lengths) fmt::format_to(to, "ilen: {}\t", length);
  put_counters(number);
  fmt::format_to(to, "#{}{}{}{}", branch.predicted() ? " PRED" : "",
                 branch.mispredicted() ? " MISPRED" : "", branch.in_tx() ? " INTX" : "",
                 branch.aborted() ? " ABORT" : "");
  if (uint64_t cycles = branch.cycles(); cycles > 0) {
    cycles_ += cycles;
    fmt::format_to(to, " {} cycles [{}]", cycles, cycles_);
    if (instructions > 0)
      fmt::format_to(to, " {:.2f} IPC",
                     static_cast<float>(instructions) / static_cast<float>(cycles));
  }
  out_ += '\n';
}

void BranchCode::put_source(uint64_t address) {
  if (style_.source != nullptr) style_.source->print(sample_.id.tid, frame_of(address), out_);
}

}  // namespace sonde
