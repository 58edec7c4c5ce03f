// Functions with known data accesses, for the tests of this layer: compiled like programs that
// people profile, optimised and with full debug information.
#pragma once

namespace shapes {

struct Inner {
  int first;
  int second;
};
struct Item {
  long key;
  Inner inner;
  double weight;
};
struct Node {
  long value;
  Node* next;
  Item* item;
};
struct Table {
  int count;
  Item slots[16];
};
union Either {
  long whole;
  int half;
};
typedef struct {  // NOLINT(modernize-use-using): the structure has no name but this
  short size;
  Item* item;
} Bare;
class Counter {
 public:
  void add(long n);
  [[nodiscard]] long hits() const { return hits_ + head_[0]; }

 private:
  char head_[24] = {};
  long hits_ = 0;
};
struct Base {
  long of_base = 1;
};
struct Derived : Base {
  long own = 2;
};

extern Table table;
extern volatile long sink;

double walk_items(const Item* items, int count);
long walk_list(const Node* node);
long walk_table(int count);
long read_given(Node* node);
long read_rarely(const Node* node);
long on_stack(int n);
long read_either(const Either* either);
long read_bare(const Bare* bare);
long read_derived(const Derived* derived);
long read_void(const void* bytes);
Item make_item(long key);
int read_inner(const Item* item);
long read_or_stop(const Node* node);

}  // namespace shapes
