#include "bpf/prologue_loader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

// libbpf knows one handler for all sections without one: it gets the loader that is at work.
int register_handler(libbpf_prog_prepare_load_fn_t prepare, long self) {
  libbpf_prog_handler_opts options{};
  options.sz = sizeof options;
  options.cookie = self;
  options.prog_prepare_load_fn = prepare;
  return libbpf_register_prog_handler(nullptr, BPF_PROG_TYPE_UNSPEC, bpf_attach_type{}, &options);
}

/// Programs may use helper functions that are for GPL-compatible ones only if they say they are.
const char* license_of(int fd) {
  bpf_prog_info info{};
  uint32_t size = sizeof info;
  bool is_known = bpf_obj_get_info_by_fd(fd, &info, &size) == 0;
  return is_known && info.gpl_compatible != 0 ? "GPL" : "Proprietary";
}

}  // namespace

PrologueLoader::PrologueLoader()
    : handler_(register_handler(prepare, reinterpret_cast<long>(this))) {}

PrologueLoader::~PrologueLoader() {
  if (handler_ >= 0) libbpf_unregister_prog_handler(handler_);
}

void PrologueLoader::add(bpf_program* program, std::vector<std::vector<bpf_insn>> prologues) {
  held_.push_back({.program = program,
                   .prologues = std::move(prologues),
                   .code = {},
                   .options = {},
                   .functions = {},
                   .lines = {},
                   .moved_functions = {},
                   .moved_lines = {}});
}

/// The first record, of instruction 0, stays: it is then the prologue's.
std::vector<std::byte> PrologueLoader::InstructionInfo::moved(size_t distance) const {
  std::vector<std::byte> bytes(size_t{count} * record_size);
  if (!bytes.empty()) std::memcpy(bytes.data(), records, bytes.size());
  for (size_t at = 0; at < bytes.size(); at += record_size) {
    uint32_t instruction = 0;
    std::memcpy(&instruction, &bytes[at], sizeof instruction);
    if (instruction == 0) continue;
    instruction += static_cast<uint32_t>(distance);
    std::memcpy(&bytes[at], &instruction, sizeof instruction);
  }
  return bytes;
}

std::vector<bpf_insn> PrologueLoader::put_in_front(Held& held, size_t prologue,
                                                   bpf_prog_load_opts& options) {
  std::vector<bpf_insn> all = held.prologues[prologue];
  held.moved_functions = held.functions.moved(all.size());
  held.moved_lines = held.lines.moved(all.size());
  options.func_info = held.moved_functions.data();
  options.line_info = held.moved_lines.data();
  all.insert(all.end(), held.code.begin(), held.code.end());
  return all;
}

int PrologueLoader::prepare(bpf_program* program, bpf_prog_load_opts* options, long self) {
  auto* loader = reinterpret_cast<PrologueLoader*>(self);
  auto held = std::ranges::find(loader->held_, program, &Held::program);
  if (held == loader->held_.end()) return 0;
  if (held->prologues.size() == 1 && held->prologues[0].empty()) return 0;
  const bpf_insn* code = bpf_program__insns(program);
  held->code.assign(code, code + bpf_program__insn_cnt(program));
  held->functions = {options->func_info, options->func_info_cnt, options->func_info_rec_size};
  held->lines = {options->line_info, options->line_info_cnt, options->line_info_rec_size};
  held->options = *options;
  held->options.log_buf = nullptr;
  std::vector<bpf_insn> all = put_in_front(*held, 0, *options);
  return bpf_program__set_insns(program, all.data(), all.size());
}

bool PrologueLoader::load_others(size_t index, std::vector<int>& fds, std::vector<Fd>& owned) {
  Held& held = held_[index];
  // Another loader was at work: what libbpf loaded has no prologue.
  if (handler_ < 0 && !held.prologues[0].empty()) return errno = EBUSY, false;
  fds.push_back(bpf_program__fd(held.program));
  for (size_t i = 1; i < held.prologues.size(); ++i) {
    std::vector<bpf_insn> all = put_in_front(held, i, held.options);
    Fd made(bpf_prog_load(bpf_program__type(held.program), bpf_program__name(held.program),
                          license_of(fds[0]), all.data(), all.size(), &held.options));
    if (!made.valid()) return false;
    fds.push_back(made.get());
    owned.push_back(std::move(made));
  }
  return true;
}

}  // namespace sonde
