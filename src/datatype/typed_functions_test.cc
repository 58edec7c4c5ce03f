#include "datatype/typed_functions.h"

#include <cstdlib>

namespace shapes {

Table table;
volatile long sink;

double walk_items(const Item* items, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += items[i].weight * items[i].inner.second;
  return sum;
}
long walk_list(const Node* node) {
  long sum = 0;
  for (; node != nullptr; node = node->next) sum += node->value + node->item->inner.first;
  return sum;
}
long walk_table(int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) sum += table.slots[i & 15].key + table.count;
  return sum;
}
[[gnu::noinline]] static Node* give_node(Node* node) {
  sink = sink + 1;
  return node;
}
long read_given(Node* node) {
  return give_node(node)->value;
}
[[gnu::noinline]] static void fill(Item* item) {
  item->key = sink;
}
long on_stack(int n) {
  Item item{};
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    fill(&item);
    sum += item.key;
  }
  return sum;
}
/// The unlikely path is after the return, and the compiler pads the space before it.
long read_rarely(const Node* node) {
  if (node->next->next->value < 0) [[unlikely]]
    return node->next->next->item->inner.second + 1;
  return 7;
}
long read_either(const Either* either) {
  return either->half;
}
long read_bare(const Bare* bare) {
  return bare->item->key;
}
long read_derived(const Derived* derived) {
  return derived->of_base * derived->own;
}
long read_void(const void* bytes) {
  return *static_cast<const volatile long*>(bytes);
}
Item make_item(long key) {
  return {.key = key, .inner = {.first = 1, .second = 2}, .weight = 0.5};
}
int read_inner(const Item* item) {
  const Inner& inner = item->inner;
  return inner.second;
}
[[noreturn]] [[gnu::noinline]] static void stop() {
  std::abort();
}
long read_or_stop(const Node* node) {
  if (node->value < 0) stop();
  return node->value;
}
void Counter::add(long n) {
  hits_ += n;
}

}  // namespace shapes
