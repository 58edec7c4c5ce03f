// Runs fuzz targets on inputs that are the same for every build: the files of their corpus, and
// mutations of those from a fixed seed, without coverage guidance. So a check that passed once
// passes again; `./dev fuzz` looks for new failures.
//
//   fuzz_replay TARGET [--inputs N] [--keep FILE] [FILE|DIRECTORY...]
//
// The current input is kept in FILE while it runs: if a target crashes on it, it is still there,
// and `fuzz_replay TARGET --inputs 0 FILE` runs it alone.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "fuzz_targets.h"

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=2048:hard_rss_limit_mb=4096:allocator_may_return_null=0";
}
#endif

namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr size_t kMaxMutations = 6;
constexpr unsigned kOneInputSeconds = 120;  // more is a hang, even on a busy machine
constexpr uint64_t kSeed = 20170311;

using Input = std::vector<uint8_t>;
using Function = int (*)(const uint8_t*, size_t);

struct Target {
  std::string_view name;
  Function run;
  size_t inputs;
};

#define TARGET(name, inputs) Target{#name, fuzz_##name, inputs},
constexpr Target kTargets[] = {FUZZ_TARGETS};
#undef TARGET

/// Mutations that break formats: single bits and bytes, numbers at the limits of their types,
/// pieces dropped, duplicated, or taken from another file.
class Mutator {
 public:
  Mutator(const std::vector<Input>& corpus, uint64_t seed) : corpus_(corpus), random_(seed) {}

  Input next() {
    Input input = corpus_.empty() ? Input() : corpus_[below(corpus_.size())];
    for (size_t left = 1 + below(kMaxMutations); left > 0; --left) mutate(input);
    if (input.size() > kMaxBytes) input.resize(kMaxBytes);
    return input;
  }

 private:
  size_t below(size_t end) { return static_cast<size_t>(random_() % end); }
  uint8_t byte() { return static_cast<uint8_t>(random_()); }

  void mutate(Input& input) {
    switch (input.empty() ? 0 : below(8)) {
      case 0:
        return insert(input, {byte()});
      case 1:
        input[below(input.size())] ^= static_cast<uint8_t>(1U << below(8));
        return;
      case 2:
        input[below(input.size())] = byte();
        return;
      case 3:
        return put_number(input);
      case 4:
        return drop(input);
      case 5:
        return insert(input, piece_of(input));
      case 6:
        return insert(input, piece_of(corpus_.empty() ? input : corpus_[below(corpus_.size())]));
      default:
        input.resize(below(input.size()) + 1);
    }
  }

  /// One of 0, -1, the largest and the smallest, in 1 to 8 bytes; or a small change to what is
  /// there.
  void put_number(Input& input) {
    constexpr std::array<uint64_t, 8> kEdges = {
        0, 1, UINT64_MAX, INT64_MAX, uint64_t{1} << 63, INT32_MAX, uint64_t{1} << 31, 0x7f};
    size_t size = std::min(size_t{1} << below(4), input.size());
    size_t at = below(input.size() - size + 1);
    uint64_t value = 0;
    std::memcpy(&value, input.data() + at, size);
    value = below(2) == 0 ? kEdges[below(kEdges.size())] : value + below(33) - 16;
    std::memcpy(input.data() + at, &value, size);
  }

  void drop(Input& input) {
    size_t at = below(input.size());
    size_t count = 1 + below(std::min<size_t>(input.size() - at, 64));
    input.erase(input.begin() + static_cast<ptrdiff_t>(at),
                input.begin() + static_cast<ptrdiff_t>(at + count));
  }

  Input piece_of(const Input& from) {
    if (from.empty()) return {};
    size_t at = below(from.size());
    size_t count = 1 + below(std::min<size_t>(from.size() - at, 256));
    return {from.begin() + static_cast<ptrdiff_t>(at),
            from.begin() + static_cast<ptrdiff_t>(at + count)};
  }

  void insert(Input& input, const Input& piece) {
    input.insert(input.begin() + static_cast<ptrdiff_t>(below(input.size() + 1)), piece.begin(),
                 piece.end());
  }

  const std::vector<Input>& corpus_;
  std::mt19937_64 random_;
};

/// The current input, in a file that outlives us.
class KeptInput {
 public:
  explicit KeptInput(std::string path) : path_(std::move(path)) {
    std::FILE* file = std::fopen(path_.c_str(), "w+");
    if (file == nullptr || ::ftruncate(::fileno(file), kMaxBytes) != 0) return;
    void* mapped =
        ::mmap(nullptr, kMaxBytes, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0);
    if (mapped != MAP_FAILED) bytes_ = static_cast<uint8_t*>(mapped);
    file_ = file;
  }
  KeptInput(const KeptInput&) = delete;
  KeptInput& operator=(const KeptInput&) = delete;
  [[nodiscard]] bool ok() const { return bytes_ != nullptr; }

  void keep(const Input& input) {
    if (input.size() != size_ &&
        ::ftruncate(::fileno(file_), static_cast<off_t>(input.size())) != 0)
      return;
    size_ = input.size();
    std::ranges::copy(input, bytes_);
  }
  ~KeptInput() {
    if (bytes_ != nullptr) ::munmap(bytes_, kMaxBytes);
    if (file_ != nullptr) std::fclose(file_);
    ::unlink(path_.c_str());
  }

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  uint8_t* bytes_ = nullptr;
  size_t size_ = kMaxBytes;
};

void say_hang(int) {
  constexpr std::string_view kText = "fuzz_replay: an input hangs\n";
  (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(1);
}

/// The files in a directory, by name, or the file itself; skips what cannot be read.
std::vector<Input> inputs_of(const std::string& path) {
  std::vector<std::string> paths;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error))
      paths.push_back(entry.path());
    std::ranges::sort(paths);
  } else {
    paths.push_back(path);
  }
  std::vector<Input> inputs;
  for (const std::string& file : paths)
    if (auto text = sonde::read_file(file)) inputs.emplace_back(text->begin(), text->end());
  return inputs;
}

struct Options {
  const Target* target = nullptr;
  size_t inputs = 0;
  std::string keep;
  std::vector<Input> corpus;
};

bool parse(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  const auto* target = std::ranges::find(kTargets, std::string_view(argv[1]), &Target::name);
  if (target == std::end(kTargets)) return false;
  options.target = target;
  options.inputs = target->inputs;
  options.keep = fmt::format("{}-input", target->name);
  for (int i = 2; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--inputs" && i + 1 < argc) {
      std::string_view number = argv[++i];
      if (std::from_chars(number.data(), number.data() + number.size(), options.inputs).ec !=
          std::errc())
        return false;
    } else if (word == "--keep" && i + 1 < argc) {
      options.keep = argv[++i];
    } else {
      for (Input& input : inputs_of(argv[i])) options.corpus.push_back(std::move(input));
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs("fuzz_replay TARGET [--inputs N] [--keep FILE] [FILE|DIRECTORY...]\ntargets:",
               stderr);
    for (const Target& target : kTargets) fmt::print(stderr, " {}", target.name);
    std::fputs("\n", stderr);
    return 2;
  }
  KeptInput kept(options.keep);
  if (!kept.ok()) {
    fmt::print(stderr, "fuzz_replay: {}: cannot be written\n", options.keep);
    return 2;
  }
  (void)std::signal(SIGALRM, say_hang);
  auto run = [&](const Input& input) {
    kept.keep(input);
    ::alarm(kOneInputSeconds);
    options.target->run(input.data(), input.size());
  };
  for (const Input& input : options.corpus) run(input);
  Mutator mutator(options.corpus, kSeed);
  for (size_t i = 0; i < options.inputs; ++i) run(mutator.next());
  fmt::print("{}: {} files and {} mutations of them\n", options.target->name, options.corpus.size(),
             options.inputs);
  return 0;
}
