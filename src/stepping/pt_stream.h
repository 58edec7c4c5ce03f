// PtStream: the Intel PT packets of one thread, made from what a stepper sees of its branches.
//
//   PtStream stream;
//   stream.enable(entry, now);      // PSB group, TIP.PGE
//   stream.conditional(true);       // bits, gathered into TNT packets
//   stream.indirect(target);        // TIP: indirect jumps and calls, returns
//   stream.leave();                 // TIP.PGD after a system call's instruction
//   stream.interrupt(ip);           // FUP, TIP.PGD: a signal before the instruction at ip
//   std::vector<std::byte> bytes = stream.take();
//
// Direct jumps and calls need no packet: a decoder reads their targets from the code. The stream is
// as a processor would write it for one thread with user code only, 64 bits, and without return
// compression. Times are put in as they are given; AUXTRACE_INFO tells readers the clock. Packets
// as in Intel's Software Developer's Manual, volume 3, "Intel Processor Trace".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sonde {

class PtStream {
 public:
  /// `sync_bytes`: a PSB group, from which decoders can start, is due after so many bytes.
  explicit PtStream(size_t sync_bytes = 4096);
  PtStream(PtStream&&) noexcept;
  PtStream& operator=(PtStream&&) noexcept;
  ~PtStream();

  /// Tracing begins, or resumes, at `ip`. Times never decrease within a stream.
  void enable(uint64_t ip, uint64_t time_ns);
  void conditional(bool taken);
  void indirect(uint64_t target);
  /// The last instruction that was traced left user code.
  void leave();
  /// Tracing ends before the instruction at `ip`, which was reached but not executed.
  void interrupt(uint64_t ip);
  /// What follows is later than what came before.
  void set_time(uint64_t time_ns);
  [[nodiscard]] bool wants_sync() const;
  /// Writes a PSB group. `ip` must be the target of the last branch that was traced.
  void sync(uint64_t ip, uint64_t time_ns);

  /// Bytes that `take` would return, without those of bits not yet in a packet.
  [[nodiscard]] size_t size() const;
  [[nodiscard]] bool enabled() const;
  /// The packets since the last call, padded to eight bytes.
  std::vector<std::byte> take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde
