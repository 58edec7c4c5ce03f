#pragma once

// A fuzz target is a function that must return for any input bytes:
//
//   FUZZ_TARGET(folded)(const uint8_t* data, size_t size) { ... return 0; }
//
// in fuzz/folded_fuzz.cc. It is compiled twice: on its own with libFuzzer's main, to explore
// (`./dev fuzz`), and together with all others into fuzz_replay (replay.cc), which gives every
// build the same inputs.
#include <cstddef>
#include <cstdint>

#ifdef SONDE_FUZZ_REPLAY
#define FUZZ_TARGET(name)                            \
  int fuzz_##name(const uint8_t* data, size_t size); \
  int fuzz_##name
#else
#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput
#endif
