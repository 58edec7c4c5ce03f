// Spends two thirds of the time in leaf below left, one third in leaf below right: what a call graph of it must show. leaf has no
// frame, so its caller is missing from frame-pointer chains. It has a section of its own, hence a fixed address
// (-Wl,--section-start). Needs no C library.
enum { kRounds = 1000, kSteps = 17389 };

static volatile unsigned sink;

__attribute__((noinline, section(".leaf"))) void leaf(unsigned steps) {
  for (unsigned i = 0; i < steps; ++i) sink = i;
}
__attribute__((noinline)) void left(void) {
  leaf(2 * kSteps);
  sink = 1;
}
__attribute__((noinline)) void right(void) {
  leaf(kSteps);
  sink = 2;
}
__attribute__((noinline)) void trunk(void) {
  for (int i = 0; i < kRounds; ++i) {
    left();
    right();
  }
  sink = 3;
}
__attribute__((noreturn)) void _start(void) {
  trunk();
  register long status __asm__("x0") = 0;
  register long number __asm__("x8") = 93;  // exit
  __asm__ volatile("svc #0" : : "r"(status), "r"(number));
  __builtin_unreachable();
}
