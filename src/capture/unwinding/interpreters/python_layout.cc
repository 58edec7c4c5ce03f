#include "capture/unwinding/interpreters/python_layout.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "bpf/programs/interpreted_code.h"
#include "capture/unwinding/interpreters/mapped_places.h"

namespace sonde {
namespace {

constexpr uint32_t minor_of(uint32_t version) {
  return version >> 16;
}
constexpr uint32_t kPython38 = 0x0308, kPython39 = 0x0309, kPython310 = 0x030a, kPython311 = 0x030b,
                   kPython312 = 0x030c, kPython313 = 0x030d;

/// What 3.8 to 3.10 have in common.
python_layout layout_38() {
  python_layout layout{};
  layout.activation = PYTHON_ONE_FRAME;
  layout.runtime_current = 1368;
  layout.runtime_key = 1392;
  layout.thread_id = 176;
  layout.thread_frame = 24;
  layout.frame_outer = 24;
  layout.frame_code = 32;
  layout.frame_instruction = 104;  // f_lasti
  layout.unit_bytes = 2;
  layout.code_first_line = 40;
  layout.code_file = 104;
  layout.code_name = 112;
  layout.code_lines = 120;  // co_lnotab
  layout.line_table = PYTHON_LINE_STARTS;
  layout.text_ascii = 48;
  layout.text_other = 72;
  return layout;
}

python_layout layout_39() {
  python_layout layout = layout_38();
  layout.runtime_current = 568;
  layout.runtime_key = 584;
  return layout;
}

python_layout layout_310() {
  python_layout layout = layout_39();
  layout.frame_instruction = 96;
  layout.unit_bytes = 1;
  layout.line_table = PYTHON_RANGES;  // co_linetable
  return layout;
}

python_layout layout_311() {
  python_layout layout{};
  layout.activation = PYTHON_IS_ENTRY;
  layout.runtime_current = 576;
  layout.runtime_key = 592;
  layout.thread_id = 152;
  layout.thread_activation = 56;
  layout.activation_frame = 8;
  layout.activation_outer = 16;
  layout.frame_outer = 48;
  layout.frame_code = 32;
  layout.frame_instruction = 56;
  layout.frame_kind = 68;  // is_entry
  layout.code_first_line = 72;
  layout.code_file = 112;
  layout.code_name = 128;  // co_qualname
  layout.code_lines = 136;
  layout.code_units = 184;
  layout.text_ascii = 48;
  layout.text_other = 72;
  return layout;
}

python_layout layout_312() {
  python_layout layout{};
  layout.activation = PYTHON_SHIM;
  layout.runtime_key = 1544;
  layout.thread_id = 136;
  layout.thread_interpreter = 16;
  layout.thread_next = 8;
  layout.interpreter_threads = 72;
  layout.interpreter_next = 0;
  layout.thread_activation = 56;
  layout.activation_frame = 0;
  layout.activation_outer = 8;
  layout.frame_outer = 8;
  layout.frame_code = 0;
  layout.frame_instruction = 56;
  layout.frame_kind = 70;  // owner
  layout.code_first_line = 68;
  layout.code_file = 112;
  layout.code_name = 128;
  layout.code_lines = 136;
  layout.code_units = 192;
  layout.text_ascii = 40;
  layout.text_other = 56;
  return layout;
}

/// The beginning of _Py_DebugOffsets (internal/pycore_runtime.h of 3.13).
struct DebugOffsets {
  char cookie[8];
  uint64_t version, free_threaded;
  struct {
    uint64_t size, finalizing, interpreters_head;
  } runtime;
  struct {
    uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins, ceval_gil,
        gil_state, gil_state_enabled, gil_state_locked, gil_state_holder;
  } interpreter;
  struct {
    uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id, datastack_chunk,
        status;
  } thread;
  struct {
    uint64_t size, previous, executable, instr_ptr, localsplus, owner;
  } frame;
  struct {
    uint64_t size, filename, name, qualname, linetable, firstlineno, argcount, localsplusnames,
        localspluskinds, code_adaptive;
  } code;
};

/// nullopt: the key of a thread's state is not among the offsets, and is where it is only in the
/// ordinary build.
std::optional<python_layout> layout_313(Bytes runtime) {
  DebugOffsets offsets;
  if (runtime.size() < sizeof offsets) return std::nullopt;
  std::memcpy(&offsets, runtime.data(), sizeof offsets);
  if (std::string_view(offsets.cookie, sizeof offsets.cookie) != "xdebugpy" ||
      offsets.free_threaded != 0)
    return std::nullopt;
  auto narrow = [](uint64_t offset) { return static_cast<uint32_t>(offset); };
  python_layout layout{};
  layout.activation = PYTHON_SHIM;
  layout.runtime_key = 2160;
  layout.thread_id = narrow(offsets.thread.thread_id);
  layout.thread_interpreter = narrow(offsets.thread.interp);
  layout.thread_next = narrow(offsets.thread.next);
  layout.interpreter_threads = narrow(offsets.interpreter.threads_head);
  layout.interpreter_next = narrow(offsets.interpreter.next);
  layout.thread_frame = narrow(offsets.thread.current_frame);
  layout.frame_outer = narrow(offsets.frame.previous);
  layout.frame_code = narrow(offsets.frame.executable);
  layout.frame_instruction = narrow(offsets.frame.instr_ptr);
  layout.frame_kind = narrow(offsets.frame.owner);
  layout.code_first_line = narrow(offsets.code.firstlineno);
  layout.code_file = narrow(offsets.code.filename);
  layout.code_name = narrow(offsets.code.qualname);
  layout.code_lines = narrow(offsets.code.linetable);
  layout.code_units = narrow(offsets.code.code_adaptive);
  layout.text_ascii = 40;
  layout.text_other = 56;
  return layout;
}

std::optional<python_layout> layout_of(uint32_t version, Bytes runtime) {
  switch (minor_of(version)) {
    case kPython38:
      return layout_38();
    case kPython39:
      return layout_39();
    case kPython310:
      return layout_310();
    case kPython311:
      return layout_311();
    case kPython312:
      return layout_312();
    case kPython313:
      return layout_313(runtime);
    default:
      return std::nullopt;
  }
}

struct PythonSymbols {
  uint64_t runtime = 0, version = 0, code_type = 0;
  uint64_t loop = 0, loop_bytes = 0;
  uint32_t api = 0;  // the latest version of which a function was found, as in PY_VERSION_HEX
};

/// Functions of the C API that appeared in a version, by its manual.
constexpr std::pair<std::string_view, uint32_t> kAppeared[] = {
    {"PyCode_NewWithPosOnlyArgs", kPython38},
    {"PyFrame_GetCode", kPython39},
    {"Py_NewRef", kPython310},
};

PythonSymbols find_symbols(const ElfFile& file) {
  PythonSymbols found;
  file.for_each_symbol(SymbolSection::kDynsym, [&](const ElfSymbol& symbol) {
    if (symbol.section == SHN_UNDEF) return;
    std::string_view name = symbol.name;
    if (name == "_PyRuntime") found.runtime = symbol.value;
    if (name == "Py_Version") found.version = symbol.value;
    if (name == "PyCode_Type") found.code_type = symbol.value;
    if (name == "_PyEval_EvalFrameDefault") {
      found.loop = symbol.value;
      found.loop_bytes = symbol.size;
    }
    for (auto [function, version] : kAppeared)
      if (name == function) found.api = std::max(found.api, version << 16);
  });
  return found;
}

}  // namespace

std::string PythonInterpreter::version_text() const {
  if (version == 0) return "before 3.8";
  return fmt::format("{}.{}", version >> 24, version >> 16 & 0xff);
}

std::optional<PythonInterpreter> python_interpreter_of(const ElfFile& file) {
  if (!file.has_symbols(SymbolSection::kDynsym) ||
      !file.may_name(SymbolSection::kDynsym, "_PyRuntime"))
    return std::nullopt;
  PythonSymbols symbols = find_symbols(file);
  if (symbols.runtime == 0) return std::nullopt;
  PythonInterpreter python{.version = symbols.version == 0 ? symbols.api : 0, .layout = {}};
  if (Bytes version = file_bytes_at(file, symbols.version, sizeof python.version);
      symbols.version != 0 && !version.empty())
    std::memcpy(&python.version, version.data(), sizeof python.version);
  python.layout =
      layout_of(python.version, file_bytes_at(file, symbols.runtime, sizeof(DebugOffsets)));
  std::optional<uint64_t> runtime = mapped_distance(file.segments(), symbols.runtime);
  std::optional<uint64_t> code_type = mapped_distance(file.segments(), symbols.code_type);
  if (!python.layout || !runtime || !code_type || symbols.code_type == 0) {
    python.layout.reset();
    return python;
  }
  python.layout->runtime = *runtime;
  python.layout->code_type = *code_type;
  if (python.layout->activation != PYTHON_ONE_FRAME) return python;
  std::optional<uint64_t> loop = mapped_distance(file.segments(), symbols.loop);
  if (!loop || symbols.loop == 0) {
    python.layout.reset();
    return python;
  }
  python.layout->loop_start = *loop;
  python.layout->loop_end = *loop + symbols.loop_bytes;
  return python;
}

}  // namespace sonde
