#include "script/frame_texts.h"

#include <algorithm>
#include <cstring>

#include <tsl/robin_map.h>

#include "base/parallel.h"
#include "base/printing/printable.h"
#include "script/field_texts.h"

namespace sonde {

std::string_view dso_text(const Session& session, DsoId id, bool module_path) {
  if (!id.valid()) return "[unknown]";
  const Dso& dso = session.machine().dsos()[id];
  bool by_name = dso.kind == DsoKind::kModule && dso.build_id.empty() && !module_path;
  return by_name ? dso.short_name : dso.path;
}

std::string build_id_of(const Session& session, DsoId id) {
  const Dso& dso = session.machine().dsos()[id];
  if (!dso.build_id.empty() || dso.kind != DsoKind::kFile) return dso.build_id;
  FoundObject found = session.symbolizer().object_files(id);
  if (!found.usable()) return {};
  return std::string((found.runtime ? found.runtime : found.symbols)->build_id());
}

namespace {

/// "file.c:12"; if lines are not known, "libc.so.6[1234]" like perf.
void append_srcline(const Session& session, const Frame& frame, std::string_view call,
                    std::string& out) {
  const Dso& dso = session.machine().dsos()[frame.dso];
  const Symbolizer& symbols = session.symbolizer();
  auto to = std::back_inserter(out);
  out += "\n  ";
  if (!call.empty())
    out += call;
  else if (symbols.srcfile(frame.dso, frame.address).empty())
    fmt::format_to(to, "{}[{:x}]", dso.short_name, frame.address);
  else
    out += symbols.srcline(frame.dso, frame.address);
}

/// `call`: the line of the call of the function inlined there, if a chain shows that.
void append_frame(const Session& session, const Frame& frame, std::string_view call,
                  const FrameStyle& style, std::string& out) {
  auto to = std::back_inserter(out);
  size_t begin = out.size();
  if (style.fields.has(Field::kSym)) {
    out += ' ';
    if (!frame.symbol.valid()) {
      out += frame.level == FrameLevel::kDeferred ? "(cookie)" : "[unknown]";
    } else {
      out += session.symbolizer().name(frame.symbol);
      if (style.fields.has(Field::kSymOffset))
        fmt::format_to(to, "+{:#x}", frame.address - frame.symbol_start);
    }
  }
  bool is_inlined = InlinedSymbols::has(frame.symbol);
  if (style.fields.has(Field::kDso) && !is_inlined) {
    out += " (";
    out += dso_text(session, frame.dso, style.show_kernel_path);
    if (style.fields.has(Field::kDsoOffset) && frame.dso.valid())
      fmt::format_to(to, "+{:#x}", frame.address);
    out += ')';
  }
  if (style.is_shown) make_printable(out, begin);
  if (style.fields.has(Field::kSrcline) && frame.dso.valid()) {
    size_t line = out.size() + 1;
    append_srcline(session, frame, call, out);
    if (style.is_shown) make_printable(out, line);
  }
  if (is_inlined) out += " (inlined)";
}

/// The load addresses of modules: chains show run-time kernel addresses, even if the object's
/// addresses are relative to its own start.
tsl::robin_map<uint32_t, Mapping> module_mappings(const Session& session) {
  const Machine& machine = session.machine();
  tsl::robin_map<uint32_t, Mapping> modules;
  for (const AddressSpace::Piece& piece : machine.space(machine.kernel_space()).pieces()) {
    const Mapping& mapping = machine.mapping(piece.mapping);
    if (!mapping.identity) modules.try_emplace(mapping.dso.value, mapping);
  }
  return modules;
}

/// Whether there is nothing to say about a frame but its address.
bool is_bare(const Frame& frame) {
  return !frame.dso.valid() && !frame.symbol.valid() && frame.level != FrameLevel::kDeferred;
}

}  // namespace

void append_place(const Session& session, const Frame& frame, const FrameStyle& style,
                  std::string& out) {
  append_frame(session, frame, {}, style, out);
}

FrameTexts::FrameTexts(const Session& session, const FrameStyle& style)
    : style_(style), inlined_(style.full_source_path) {
  append_place(session, Frame(), style, rest_);
  rest_ += '\n';
  rest_size_ = rest_.size();
  rest_.append(kStep, '\0');
  grow(session);
}

void FrameTexts::grow(const Session& session) {
  size_t known = texts_.size();
  size_t count = session.frames().size();
  if (known == count) return;
  if (style_.fields.has(Field::kSrcline)) inlined_.grow(session, known);
  auto modules = module_mappings(session);
  auto shown_address = [&](const Frame& frame) {
    if (frame.level != FrameLevel::kKernel || !frame.dso.valid()) return frame.address;
    auto found = modules.find(frame.dso.value);
    if (found == modules.end()) return frame.address;
    return frame.address - found->second.offset.value + found->second.start.value;
  };
  bool shows_ip = style_.fields.has(Field::kIp);
  constexpr size_t kBatch = 4096;
  size_t first_chunk = chunks_.size();
  texts_.resize(count);
  chunks_.resize(first_chunk + (count - known + kBatch - 1) / kBatch);
  parallel_for(chunks_.size() - first_chunk, [&](size_t batch) {
    chunks_[first_chunk + batch] = std::make_unique<std::string>();
    std::string& text = *chunks_[first_chunk + batch];
    size_t begin = known + batch * kBatch;
    size_t end = std::min(count, begin + kBatch);
    for (size_t i = begin; i < end; ++i) {
      const Frame& frame = session.frames()[i];
      if (shows_ip && is_bare(frame)) {
        texts_[i] = {nullptr, frame.address};
        continue;
      }
      size_t from = text.size();
      text += '\t';
      if (shows_ip) script::append_hex16(text, shown_address(frame));
      append_frame(session, frame, inlined_.of(FrameId(i)), style_, text);
      text += '\n';
      texts_[i].size = text.size() - from;
    }
    text.append(kStep, '\0');
    const char* at = text.data();
    for (size_t i = begin; i < end; ++i)
      if (!shows_ip || !is_bare(session.frames()[i])) at = (texts_[i].chars = at) + texts_[i].size;
  });
}

void FrameTexts::clear() {
  texts_.clear();
  inlined_.clear();
  chunks_.clear();
}

/// Writes up to kStep - 1 bytes more.
void FrameTexts::put(char* to, const char* chars, size_t size) {
  for (size_t done = 0; done < size; done += kStep) std::memcpy(to + done, chars + done, kStep);
}

// Chains that went astray often repeat an address to their end.
//
// Half of `script`'s time would go into 10 million appends of 150 bytes each: growing the text once
// per chain and copying in steps of fixed size takes a third of that.
void FrameTexts::append(std::span<const FrameId> frames, std::string& out) const {
  constexpr size_t kAddress = 17;  // tab and digits
  size_t size = 0;
  for (FrameId frame : frames) {
    const Text& text = texts_[frame.index()];
    __builtin_prefetch(text.chars);
    size += text.chars == nullptr ? kAddress + rest_size_ : text.size;
  }
  size_t before = out.size();
  out.resize_and_overwrite(before + size + kStep, [&](char* chars, size_t) {
    char* to = chars + before;
    FrameId previous;
    size_t line = 0;  // its length
    for (FrameId frame : frames) {
      const Text& text = texts_[frame.index()];
      if (frame == previous && line >= kStep) {
        put(to, to - line, line);
      } else if (text.chars != nullptr) {
        line = text.size;
        put(to, text.chars, line);
      } else {
        line = kAddress + rest_size_;
        *to = '\t';
        script::put_hex16(to + 1, text.size);
        put(to + kAddress, rest_.data(), rest_size_);
      }
      to += line;
      previous = frame;
    }
    return before + size;
  });
}

}  // namespace sonde
