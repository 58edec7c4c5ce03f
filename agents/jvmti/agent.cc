// libsonde-jvmti.so: tells profilers about the code that a JVM compiles.
//
//   java -agentpath:/usr/lib/libsonde-jvmti.so=/tmp -jar app.jar
//   jcmd PID JVMTI.agent_load /usr/lib/libsonde-jvmti.so /tmp       into one that runs
//
// The option is the directory of the dump; by default $JITDUMPDIR, else /tmp. Lines and inlined
// functions are known at safepoints; with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints at
// every instruction.
#include <jvmti.h>
#include <jvmticmlr.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "dump_writer.h"
#include "frame_layout.h"
#include "method_names.h"

namespace sonde_jvmti {
namespace {

/// The JVM reports the ends of instructions, each valid back to the previous one: they are return
/// addresses of calls.
std::vector<CodeLine> lines_of(MethodNames& names, const void* code, const void* compile_info) {
  std::vector<CodeLine> lines;
  auto next = reinterpret_cast<uint64_t>(code);
  for (auto header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(compile_info);
       header != nullptr; header = header->next) {
    if (header->kind != JVMTI_CMLR_INLINE_INFO) continue;
    auto record = reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header);
    for (jint i = 0; i < record->numpcs; ++i) {
      const PCStackInfo& place = record->pcinfo[i];
      auto end = reinterpret_cast<uint64_t>(place.pc);
      if (end < next || place.numstackframes < 1) continue;
      CodeLine line{next, {}};
      for (jint frame = 0; frame < place.numstackframes; ++frame)
        line.frames.push_back(names.frame(place.methods[frame], place.bcis[frame]));
      lines.push_back(std::move(line));
      next = end + 1;
    }
  }
  return lines;
}

/// Without inlining: maps bytecode locations to addresses.
std::vector<CodeLine> lines_of(MethodNames& names, jmethodID method, jint count,
                               const jvmtiAddrLocationMap* map) {
  std::vector<CodeLine> lines;
  for (jint i = 0; i < count; ++i)
    lines.push_back({reinterpret_cast<uint64_t>(map[i].start_address),
                     {names.frame(method, static_cast<jint>(map[i].location))}});
  return lines;
}

DumpWriter& dump() {
  static DumpWriter writer;  // the callbacks of a loaded library have no other place for it
  return writer;
}

void JNICALL on_compiled(jvmtiEnv* jvmti, jmethodID method, jint size, const void* code, jint count,
                         const jvmtiAddrLocationMap* map, const void* compile_info) {
  MethodNames names(*jvmti);
  CodePiece piece;
  piece.name = names.function(method);
  piece.address = reinterpret_cast<uint64_t>(code);
  piece.bytes = {static_cast<const char*>(code), static_cast<size_t>(size)};
  piece.lines = lines_of(names, code, compile_info);
  if (piece.lines.empty() && map != nullptr) piece.lines = lines_of(names, method, count, map);
  piece.eh_frame = make_eh_frame(piece.bytes);
  dump().write(piece);
}

void JNICALL on_generated(jvmtiEnv*, const char* name, const void* code, jint size) {
  CodePiece piece;
  piece.name = name;
  piece.address = reinterpret_cast<uint64_t>(code);
  piece.bytes = {static_cast<const char*>(code), static_cast<size_t>(size)};
  piece.eh_frame = make_stub_eh_frame(piece.name, piece.bytes);
  dump().write(piece);
}

void JNICALL on_end(jvmtiEnv*, JNIEnv*) {
  dump().close();
}

jint complain(const char* what) {
  std::fprintf(stderr, "libsonde-jvmti: %s\n", what);
  return JNI_ERR;
}

std::string directory_from(const char* options) {
  if (options != nullptr && *options != '\0') return options;
  const char* given = std::getenv("JITDUMPDIR");
  return given != nullptr && *given != '\0' ? given : "/tmp";
}

jint start(JavaVM* vm, const char* options) {
  static bool started = false;
  if (started) return JNI_OK;
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_1_2) != JNI_OK)
    return complain("this virtual machine has no JVMTI");
  jvmtiCapabilities wanted{};
  wanted.can_generate_compiled_method_load_events = 1;
  wanted.can_get_source_file_name = 1;
  wanted.can_get_line_numbers = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE)
    return complain("this virtual machine does not tell of the code that it compiles");
  std::string directory = directory_from(options);
  if (!dump().open(directory))
    return complain((directory + ": no dump can be written: " + std::strerror(errno)).c_str());
  jvmtiEventCallbacks callbacks{};
  callbacks.CompiledMethodLoad = on_compiled;
  callbacks.DynamicCodeGenerated = on_generated;
  callbacks.VMDeath = on_end;
  if (jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
    return complain("this virtual machine takes no callbacks");
  for (jvmtiEvent event :
       {JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_VM_DEATH})
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE)
      return complain("this virtual machine sends no events");
  // Code generated before the agent was loaded; at startup there is none, and asking is not yet
  // allowed.
  for (jvmtiEvent event : {JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_DYNAMIC_CODE_GENERATED})
    (void)jvmti->GenerateEvents(event);
  started = true;  // failed steps may be retried, with another directory
  return JNI_OK;
}

}  // namespace
}  // namespace sonde_jvmti

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  return sonde_jvmti::start(vm, options);
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  return sonde_jvmti::start(vm, options);
}
