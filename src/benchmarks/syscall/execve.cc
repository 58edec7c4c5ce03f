// syscall execve: fork(2), execve(2) of a program that ends at once, and waiting for it.
#include "benchmarks/syscall/call_loop.h"

#include <unistd.h>

#include <array>

namespace sonde {

std::unique_ptr<Benchmark> make_syscall_execve() {
  return std::make_unique<CallLoop>("execve()", 10'000, [] {
    return fork_and_wait([] {
      std::array<char*, 2> words = {const_cast<char*>("/bin/true"), nullptr};
      ::execve(words[0], words.data(), environ);
      return 127;
    });
  });
}

}  // namespace sonde
