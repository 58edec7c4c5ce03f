// PrologueLoader: programs of an object that libbpf loads with instructions of ours in front of
// theirs, and further copies of them with others.
//
//   PrologueLoader loader;                       // before the object is opened
//   … bpf_object__open_mem …
//   loader.add(program, {prologue, another});    // a program in a section unknown to libbpf
//   … bpf_object__load …                         // loads it with the first prologue
//   loader.load_others(0, fds, owned);           // loads the copies
//
// The prologue is part of the program: it sets the registers that the program's parameters are in.
// Jumps and calls are relative, and the program's own functions follow it, so all moves by the same
// distance; what BTF says of the instructions is moved along.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <vector>

#include "base/file.h"

namespace sonde {

class PrologueLoader {
 public:
  PrologueLoader();
  PrologueLoader(const PrologueLoader&) = delete;
  PrologueLoader& operator=(const PrologueLoader&) = delete;
  ~PrologueLoader();

  /// `prologues` has at least one, which may be empty.
  void add(bpf_program* program, std::vector<std::vector<bpf_insn>> prologues);

  /// Appends the descriptors of the index-th added program, which libbpf has loaded: its own, and
  /// those of the copies, which `owned` keeps. false if the kernel refuses one, with errno.
  bool load_others(size_t index, std::vector<int>& fds, std::vector<Fd>& owned);

 private:
  /// func_info or line_info of .BTF.ext: records that begin with an instruction's number.
  struct InstructionInfo {
    const void* records = nullptr;
    uint32_t count = 0, record_size = 0;
    [[nodiscard]] std::vector<std::byte> moved(size_t distance) const;
  };
  struct Held {
    bpf_program* program;
    std::vector<std::vector<bpf_insn>> prologues;
    std::vector<bpf_insn> code;  // the program's own, relocated
    bpf_prog_load_opts options;
    InstructionInfo functions, lines;  // as the object has them
    std::vector<std::byte> moved_functions, moved_lines;
  };
  static int prepare(bpf_program* program, bpf_prog_load_opts* options, long self);
  static std::vector<bpf_insn> put_in_front(Held& held, size_t prologue,
                                            bpf_prog_load_opts& options);

  std::vector<Held> held_;
  int handler_;
};

}  // namespace sonde
