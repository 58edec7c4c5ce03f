#include "datatype/type_flow.h"

#include <algorithm>
#include <deque>

#include "datatype/location_types.h"

namespace sonde::datatype {
namespace {

using disasm::DataMove;
using disasm::Flow;
using disasm::MemoryOperand;
using disasm::Operation;
using Kind = Value::Kind;

/// Larger functions are analysed only up to this instruction.
constexpr size_t kMaxInstructions = 1 << 20;
/// Average visits per instruction; compiled code does not need more.
constexpr size_t kMaxPasses = 200;
constexpr uint64_t kMaxTypeSize = uint64_t{1} << 40;
/// The stack protector's offset from the thread pointer (x86-64 psABI draft; glibc's tcbhead_t).
constexpr int64_t kCanaryOffset = 0x28;

int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

struct Step {
  uint64_t address;
  Operation operation;
};

/// A basic block: no jumps into or out of it except at its ends.
struct Block {
  size_t first, end;  // indexes of the steps
  std::vector<size_t> next;
  bool jumps_anywhere = false;  // through a table or a register
  bool has_entry = false;       // some jump, or the block before, leads here
  bool is_reached = false;
  RegisterValues before;
};

class Follower {
 public:
  Follower(const FlowInput& input, const disasm::OperationDecoder& decoder)
      : input_(input),
        convention_(decoder.convention()),
        types_(input.index->types()),
        places_(*input.index, input.variables),
        meeting_(*input.index) {
    decode(decoder);
    find_blocks();
  }

  std::vector<TypedInstruction> run() {
    if (blocks_.empty()) return {};
    RegisterValues entry;
    entry.set(convention_.stack_pointer,
              {.kind = Kind::kFrame, .type = {}, .offset = convention_.stack_at_entry});
    if (input_.variables != nullptr && input_.index->is_entry(input_.address))
      entry.set(convention_.result_place, place_of_result(input_.index->result_of(input_.address)));
    reach(0, entry);
    work();
    // What is only reached through jump tables, and exception landing pads.
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].is_reached || is_padding(blocks_[i])) continue;
      bool is_of_table = !blocks_[i].has_entry && anywhere_.has_value();
      reach(i, is_of_table ? *anywhere_ : RegisterValues());
      work();
    }
    // Before the fixed point, nothing is certain.
    if (done_ > kMaxPasses * steps_.size()) return {};
    return accesses();
  }

 private:
  // ---- code

  void decode(const disasm::OperationDecoder& decoder) {
    Bytes left = input_.code;
    uint64_t address = input_.address;
    while (!left.empty() && steps_.size() < kMaxInstructions) {
      Operation operation = decoder.decode(left, address);
      size_t length = std::clamp<size_t>(operation.length, 1, left.size());
      steps_.push_back({address, std::move(operation)});
      left = left.subspan(length);
      address += length;
    }
  }

  [[nodiscard]] std::optional<size_t> step_at(uint64_t address) const {
    auto found = std::ranges::lower_bound(steps_, address, {}, &Step::address);
    if (found == steps_.end() || found->address != address) return std::nullopt;
    return static_cast<size_t>(found - steps_.begin());
  }

  [[nodiscard]] bool ends_block(const Step& step) const {
    const Operation& operation = step.operation;
    if (operation.flow == Flow::kCall) {
      const CallResult* call = call_before(step.address + operation.length);
      return call != nullptr && call->never_returns;
    }
    return operation.flow == Flow::kJump || operation.flow == Flow::kReturn;
  }

  /// What debug information says about the call before an address; null if nothing.
  [[nodiscard]] const CallResult* call_before(uint64_t behind) const {
    if (input_.variables == nullptr) return nullptr;
    const std::vector<CallResult>& calls = input_.variables->calls;
    auto found = std::ranges::lower_bound(calls, behind, {}, &CallResult::return_address);
    return found != calls.end() && found->return_address == behind ? &*found : nullptr;
  }

  void find_blocks() {
    if (steps_.empty()) return;
    std::vector<size_t> starts = {0};
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Operation& operation = steps_[i].operation;
      if (ends_block(steps_[i])) starts.push_back(i + 1);
      if (operation.flow == Flow::kJump && operation.target)
        if (auto target = step_at(*operation.target)) starts.push_back(*target);
    }
    std::ranges::sort(starts);
    auto [repeated, end] = std::ranges::unique(starts);
    starts.erase(repeated, end);
    if (starts.back() >= steps_.size()) starts.pop_back();
    for (size_t i = 0; i < starts.size(); ++i) {
      size_t behind = i + 1 < starts.size() ? starts[i + 1] : steps_.size();
      blocks_.push_back({.first = starts[i], .end = behind, .next = {}, .before = {}});
    }
    for (size_t i = 0; i < blocks_.size(); ++i) link(i, starts);
  }

  /// Fills the space before a jump target; never executed.
  [[nodiscard]] bool is_padding(const Block& block) const {
    std::span<const Step> steps = std::span(steps_).subspan(block.first, block.end - block.first);
    return std::ranges::all_of(steps, [](const Step& step) {
      const Operation& does = step.operation;
      bool touches = does.memory && (does.memory->is_read || does.memory->is_written);
      return does.length != 0 && does.flow == Flow::kOn && does.move == DataMove::kNone &&
             does.written == 0 && !touches && !does.is_stack;
    });
  }

  void link(size_t i, const std::vector<size_t>& starts) {
    Block& block = blocks_[i];
    const Operation& last = steps_[block.end - 1].operation;
    bool goes_on =
        !ends_block(steps_[block.end - 1]) || (last.flow == Flow::kJump && last.is_conditional);
    if (goes_on && i + 1 < blocks_.size()) block.next.push_back(i + 1);
    if (last.flow == Flow::kJump) {
      if (!last.target) {
        block.jumps_anywhere = true;
      } else if (auto target = step_at(*last.target)) {
        auto found = std::ranges::lower_bound(starts, *target);
        block.next.push_back(static_cast<size_t>(found - starts.begin()));
      }
    }
    for (size_t next : block.next) blocks_[next].has_entry = true;
  }

  // ---- values

  void reach(size_t block, const RegisterValues& values) {
    Block& reached = blocks_[block];
    bool changed = !reached.is_reached;
    if (reached.is_reached)
      changed = meeting_.meet(reached.before, values);
    else
      reached.before = values;
    reached.is_reached = true;
    if (changed) waiting_.push_back(block);
  }

  void work() {
    while (!waiting_.empty()) {
      size_t at = waiting_.front();
      waiting_.pop_front();
      done_ += blocks_[at].end - blocks_[at].first;
      if (done_ > kMaxPasses * steps_.size()) return waiting_.clear();
      RegisterValues values = blocks_[at].before;
      go_through(blocks_[at], values, [](size_t, const RegisterValues&) {});
      if (blocks_[at].jumps_anywhere) {
        if (anywhere_)
          meeting_.meet(*anywhere_, values);
        else
          anywhere_ = values;
      }
      for (size_t next : blocks_[at].next) reach(next, values);
    }
  }

  template <typename See>
  void go_through(const Block& block, RegisterValues& values, const See& see) {
    know_frame(steps_[block.first].address, values);
    uint64_t before = 0;
    for (size_t i = block.first; i < block.end; ++i) {
      places_.apply(steps_[i].address, before, values);
      see(i, values);
      step(i, values);
      before = steps_[i].address;
    }
  }

  /// Sets the stack pointer, or its substitute, from call frame information.
  void know_frame(uint64_t address, RegisterValues& values) const {
    if (!input_.frame_at) return;
    auto frame = input_.frame_at(address);
    if (!frame) return;
    values.set(frame->first,
               {.kind = Kind::kFrame,
                .type = {},
                .offset = static_cast<int64_t>(0 - static_cast<uint64_t>(frame->second))});
  }

  void step(size_t i, RegisterValues& values) {
    const Operation& operation = steps_[i].operation;
    uint64_t address = steps_[i].address;
    Value result = moved(operation, address, values);
    if (operation.move == DataMove::kStore) store(operation, values);
    Value second;
    if (operation.move == DataMove::kLoad && operation.second != disasm::kNoRegister)
      second = loaded(behind(*operation.memory), address, values);
    Value stack = values[convention_.stack_pointer];
    Value base = operation.memory ? values[operation.memory->base] : Value();

    if (operation.flow == Flow::kCall) values.forget(convention_.lost_in_calls);
    values.forget(operation.written);
    if (operation.flow == Flow::kCall) {
      values.set(convention_.result, called(operation, address));
      return values.set(convention_.stack_pointer, stack);
    }
    if (operation.stack_change != 0)
      values.set(convention_.stack_pointer, moved_by(stack, operation.stack_change));
    if (operation.base_change != 0)
      values.set(operation.memory->base, moved_by(base, operation.base_change));
    if (operation.move == DataMove::kLeave) {
      values.set(operation.from, {});
      result = moved_by(result, convention_.pointer_size);
    }
    if (operation.move != DataMove::kNone && operation.move != DataMove::kStore)
      values.set(operation.to, result);
    if (operation.second != disasm::kNoRegister && operation.move == DataMove::kLoad)
      values.set(operation.second, second);
  }

  /// The value of the written register after an instruction.
  Value moved(const Operation& operation, uint64_t address, const RegisterValues& values) {
    switch (operation.move) {
      case DataMove::kCopy:
      case DataMove::kLeave:
        return values[operation.from];
      case DataMove::kConstant:
        return {.kind = Kind::kConstant, .type = {}, .offset = operation.value};
      case DataMove::kLoad:
        return loaded(*operation.memory, address, values);
      case DataMove::kAddress:
        return operation.memory ? address_of_operand(*operation.memory, values) : Value();
      case DataMove::kAdd:
      case DataMove::kSubtract:
        return sum(operation, values);
      case DataMove::kSelect:
        return either(
            values[operation.from],
            values[operation.other == disasm::kNoRegister ? operation.to : operation.other]);
      default:
        return {};
    }
  }

  static Value either(const Value& a, const Value& b) {
    if (a == b || b.kind == Kind::kUnknown) return a;
    bool a_is_null = a.kind == Kind::kConstant && a.offset == 0;
    return a.kind == Kind::kUnknown || a_is_null ? b : a;
  }

  Value sum(const Operation& operation, const RegisterValues& values) const {
    const Value& left = values[operation.from];
    if (operation.other == disasm::kNoRegister) return moved_by(left, operation.value);
    const Value& right = values[operation.other];
    if (left.kind == Kind::kUnknown && operation.move == DataMove::kAdd) return indexed(right);
    return right.kind == Kind::kUnknown ? indexed(left) : Value();
  }

  /// A pointer plus an unknown number: another element of the same array.
  static Value indexed(Value value) {
    value.of_array = true;
    bool may_be = value.kind == Kind::kPointer || value.kind == Kind::kConstant ||
                  value.kind == Kind::kThread;
    return may_be ? value : Value();
  }

  Value moved_by(Value value, int64_t distance) const {
    if (value.kind == Kind::kUnknown) return value;
    if (value.kind == Kind::kPointer) {
      // To another element, if it is an array.
      uint64_t size = types_.size_of(value.type);
      bool is_record = types_[types_.plain(value.type)].kind == DataTypeKind::kRecord;
      if (size != 0 && size <= kMaxTypeSize && (value.of_array || !is_record || distance > 0) &&
          distance % static_cast<int64_t>(size) == 0 && distance != 0) {
        value.of_array = true;
        return value;
      }
    }
    value.offset = plus(value.offset, distance);
    return value;
  }

  Value address_of_operand(const MemoryOperand& memory, const RegisterValues& values) const {
    if (memory.of_thread) return {};
    bool has_index = memory.index != disasm::kNoRegister;
    if (memory.address)
      return {.kind = Kind::kConstant,
              .of_array = has_index,
              .type = {},
              .offset = static_cast<int64_t>(*memory.address)};
    Value base = values[memory.base];
    if (base.kind == Kind::kUnknown && has_index && memory.scale == 1) base = values[memory.index];
    if (base.kind == Kind::kUnknown) return {};
    if (!has_index) return moved_by(base, memory.displacement);
    if (base.kind == Kind::kFrame) return {};
    base.offset = plus(base.offset, memory.displacement);
    base.of_array = true;
    return base;
  }

  /// The second operand of a pair.
  static MemoryOperand behind(MemoryOperand memory) {
    memory.displacement = plus(memory.displacement, memory.size);
    return memory;
  }

  /// The value that a load of a whole register yields.
  Value loaded(const MemoryOperand& memory, uint64_t address, const RegisterValues& values) {
    if (memory.address && !memory.of_thread && memory.index == disasm::kNoRegister &&
        input_.linked_at)
      if (auto linked = input_.linked_at(*memory.address))
        return {.kind = linked->of_thread ? Kind::kThread : Kind::kConstant,
                .type = {},
                .offset = static_cast<int64_t>(linked->value)};
    // The thread pointer itself, which is at the end of the block.
    if (memory.of_thread && memory.address == 0 && memory.index == disasm::kNoRegister)
      return input_.thread_block == 0 ? Value()
                                      : Value{.kind = Kind::kThread,
                                              .type = {},
                                              .offset = static_cast<int64_t>(input_.thread_block)};
    DataAccess access = access_of(memory, address, values);
    if (access.kind == AccessKind::kData) {
      DataField field = types_.field_at(access.type, access.offset, convention_.pointer_size);
      if (!field.type.valid() || field.offset != 0) return {};
      auto pointee = types_.pointee(field.type);
      return pointee ? Value{.kind = Kind::kPointer, .type = *pointee} : Value();
    }
    Value place = address_of_operand(memory, values);
    return place.kind == Kind::kFrame ? values.slot(place.offset) : Value();
  }

  void store(const Operation& operation, RegisterValues& values) {
    Value place = address_of_operand(*operation.memory, values);
    if (place.kind != Kind::kFrame) return;
    values.set_slot(place.offset, values[operation.from]);
    if (operation.second != disasm::kNoRegister)
      values.set_slot(plus(place.offset, operation.memory->size), values[operation.second]);
  }

  Value called(const Operation& operation, uint64_t address) {
    DataTypeId type = result_type(operation, address);
    if (convention_.returns_place)
      if (Value place = place_of_result(type); place.kind != Kind::kUnknown) return place;
    auto pointee = types_.pointee(type);
    return pointee ? Value{.kind = Kind::kPointer, .type = *pointee} : Value();
  }

  /// The address passed to a function that returns a structure in memory.
  Value place_of_result(DataTypeId type) {
    const DataType& result = types_[types_.plain(type)];
    bool in_memory = result.kind == DataTypeKind::kRecord &&
                     (result.by_reference || result.size > convention_.largest_result);
    return in_memory ? Value{.kind = Kind::kPointer, .type = type} : Value();
  }

  DataTypeId result_type(const Operation& operation, uint64_t address) {
    if (const CallResult* call = call_before(address + operation.length))
      return types_.of(call->type);
    if (operation.target) return input_.index->result_of(*operation.target);
    return types_.of({});
  }

  // ---- accesses

  DataAccess access_of(const MemoryOperand& memory, uint64_t address,
                       const RegisterValues& values) {
    DataAccess access = place_of(memory, address, values);
    if (access.kind == AccessKind::kData && memory.index != disasm::kNoRegister &&
        may_be_elsewhere(access, memory.scale))
      access.kind = AccessKind::kBadOffset;
    return access;
  }

  /// An index counts elements, and compilers fold the array's offset into it: `node->w[k & 3]` may
  /// be 8(%rdi,%rdx,8), which is not the field at 8. If the place is not an element's and there are
  /// arrays of such elements, the field is unknown.
  bool may_be_elsewhere(const DataAccess& access, uint32_t scale) {
    if (scale == 1 || types_.size_of(access.type) <= scale) return false;
    DataField field = types_.field_at(access.type, access.offset, access.size);
    return !field.path.contains('[') && types_.has_array_of(access.type, scale);
  }

  DataAccess place_of(const MemoryOperand& memory, uint64_t address, const RegisterValues& values) {
    DataAccess access{.kind = AccessKind::kNoVariable, .size = memory.size, .type = {}};
    if (memory.of_thread) return of_thread(memory, values, access);
    bool has_index = memory.index != disasm::kNoRegister;
    if (memory.address) return of_static(address, *memory.address, has_index, access);
    if (auto place = places_.at_register(address, memory.base, memory.displacement))
      return inside(*place, has_index, access);
    Value base = values[memory.base];
    if (base.kind == Kind::kUnknown && has_index && memory.scale == 1) base = values[memory.index];
    int64_t offset = plus(base.offset, memory.displacement);
    switch (base.kind) {
      case Kind::kPointer:
        return inside({base.type, offset}, has_index || base.of_array, access);
      case Kind::kConstant:
        return of_static(address, static_cast<uint64_t>(offset), has_index || base.of_array,
                         access);
      case Kind::kFrame:
        if (auto place = places_.in_frame(address, offset))
          return inside(*place, has_index, access);
        if (!has_index) access.kind = AccessKind::kStack;
        return access;
      case Kind::kThread:
        return in_thread_block(offset, has_index || base.of_array, access);
      case Kind::kUnknown:
        return access;
    }
    return access;
  }

  DataAccess of_thread(const MemoryOperand& memory, const RegisterValues& values,
                       DataAccess access) {
    bool has_index = memory.index != disasm::kNoRegister;
    if (memory.address) {
      bool is_guard = memory.displacement == kCanaryOffset && !has_index;
      if (is_guard && convention_.pointer_size == 8) {
        access.kind = AccessKind::kCanary;
        return access;
      }
      if (input_.thread_block == 0) return access;
      int64_t offset = plus(memory.displacement, static_cast<int64_t>(input_.thread_block));
      return in_thread_block(offset, has_index, access);
    }
    const Value& base = values[memory.base];
    if (base.kind == Kind::kConstant && input_.thread_block != 0) {
      // An offset from the thread pointer, which is at the end of the block.
      int64_t offset =
          plus(plus(base.offset, memory.displacement), static_cast<int64_t>(input_.thread_block));
      return in_thread_block(offset, has_index, access);
    }
    if (base.kind != Kind::kThread) return access;
    return in_thread_block(plus(base.offset, memory.displacement), has_index, access);
  }

  DataAccess in_thread_block(int64_t offset, bool of_array, DataAccess access) {
    auto found = input_.index->thread_local_at(static_cast<uint64_t>(offset));
    if (!found) return access;
    return inside({found->type, static_cast<int64_t>(found->offset)}, of_array, access);
  }

  DataAccess of_static(uint64_t address, uint64_t data_address, bool of_array, DataAccess access) {
    auto place = places_.at_static(address, data_address);
    return place ? inside(*place, of_array, access) : access;
  }

  /// The place in the structure itself, not in an array of it.
  DataAccess inside(TypedPlace place, bool of_array, DataAccess access) {
    DataTypeId type = place.type;
    for (int depth = 0; depth < 8; ++depth) {
      DataTypeId plain = types_.plain(type);
      if (types_[plain].kind != DataTypeKind::kArray) break;
      type = types_.target_of(plain);
      of_array = true;
    }
    access.type = type;
    uint64_t size = types_.size_of(type);
    DataTypeKind kind = types_[types_.plain(type)].kind;
    if (size == 0 || size > kMaxTypeSize || kind == DataTypeKind::kUnknown) {
      access.kind = AccessKind::kNoType;
      return access;
    }
    auto length = static_cast<int64_t>(size);
    bool is_outside = place.offset < 0 || place.offset >= length;
    if (is_outside && !of_array && kind == DataTypeKind::kRecord && !ends_open(type)) {
      access.kind = AccessKind::kBadOffset;
      return access;
    }
    bool is_behind = is_outside && place.offset > 0 && ends_open(type);
    int64_t offset = is_behind ? place.offset : (place.offset % length + length) % length;
    access.kind = AccessKind::kData;
    access.offset = static_cast<uint64_t>(offset);
    return access;
  }

  /// Whether its last member is a flexible array, which extends past its end.
  bool ends_open(DataTypeId type) {
    std::span<const DataMember> members = types_.members(types_.plain(type));
    if (members.empty()) return false;
    DataTypeId last = types_.plain(members.back().type);
    return types_[last].kind == DataTypeKind::kArray && types_.size_of(last) == 0;
  }

  std::vector<TypedInstruction> accesses() {
    std::vector<TypedInstruction> found(steps_.size());
    for (const Block& block : blocks_) {
      RegisterValues values = block.before;
      go_through(block, values, [&](size_t i, const RegisterValues& now) {
        const Operation& operation = steps_[i].operation;
        found[i].address = steps_[i].address;
        DataAccess& access = found[i].access;
        access.kind = AccessKind::kNoMemory;
        bool touches =
            operation.memory && (operation.memory->is_read || operation.memory->is_written);
        bool saves =
            operation.is_stack && (!touches || operation.memory->base == convention_.stack_pointer);
        if (saves)
          access.kind = AccessKind::kStack;
        else if (touches)
          access = access_of(*operation.memory, steps_[i].address, now);
      });
    }
    return found;
  }

  const FlowInput& input_;
  const disasm::CallingConvention& convention_;
  DataTypes& types_;
  PlaceTypes places_;
  ValueMeeting meeting_;
  std::vector<Step> steps_;
  std::vector<Block> blocks_;
  std::deque<size_t> waiting_;
  size_t done_ = 0;                         // instructions visited
  std::optional<RegisterValues> anywhere_;  // where jumps through tables occur
};

}  // namespace

std::vector<TypedInstruction> follow_types(const FlowInput& input,
                                           const disasm::OperationDecoder& decoder) {
  return Follower(input, decoder).run();
}

}  // namespace sonde::datatype
