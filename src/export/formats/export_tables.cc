#include "export/formats/export_tables.h"

namespace sonde {

std::string_view kind_word(FrameKind kind) {
  switch (kind) {
    case FrameKind::kKernel:
      return "kernel";
    case FrameKind::kInlined:
      return "inlined";
    case FrameKind::kJit:
      return "jit";
    case FrameKind::kTask:
      return "task";
    case FrameKind::kWaker:
      return "waker";
    case FrameKind::kUser:
      break;
  }
  return "user";
}

}  // namespace sonde
