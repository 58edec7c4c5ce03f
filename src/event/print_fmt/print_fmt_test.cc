#include "event/print_fmt/print_fmt.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

/// An event with fields of every kind, and a sample of it; each test supplies the print format.
class Event {
 public:
  explicit Event(PrintTarget target = {}) : target_(std::move(target)) {
    context_.symbol = [](uint64_t address) -> std::optional<PrintContext::Symbol> {
      if (address < 0xffffffff81000000) return std::nullopt;
      return PrintContext::Symbol{"do_work", address - 0xffffffff81000000};
    };
    context_.printk = [](uint64_t address) -> std::optional<std::string_view> {
      return address == 0x5000 ? std::optional<std::string_view>("constant text") : std::nullopt;
    };
  }

  std::string print(std::string_view print_fmt, size_t raw_size = SIZE_MAX) {
    std::string raw = sample();
    PrintProgram program = compile(print_fmt);
    std::string out;
    // A separate copy, so that a sanitizer detects reads past its end.
    std::string exact = raw.substr(0, raw_size);
    program.print(as_bytes(exact), context_, out);
    return out;
  }

  PrintProgram compile(std::string_view print_fmt) {
    std::string text =
        "name: demo\nID: 7\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
        "\tfield:s8 tiny;\toffset:8;\tsize:1;\tsigned:1;\n"
        "\tfield:u8 byte;\toffset:9;\tsize:1;\tsigned:0;\n"
        "\tfield:short small;\toffset:10;\tsize:2;\tsigned:1;\n"
        "\tfield:int neg;\toffset:12;\tsize:4;\tsigned:1;\n"
        "\tfield:u64 big;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:char comm[8];\toffset:24;\tsize:8;\tsigned:0;\n"
        "\tfield:void * null;\toffset:32;\tsize:8;\tsigned:0;\n"
        "\tfield:const char * str;\toffset:40;\tsize:8;\tsigned:0;\n"
        "\tfield:void * fn;\toffset:48;\tsize:8;\tsigned:0;\n"
        "\tfield:__data_loc char[] name;\toffset:56;\tsize:4;\tsigned:0;\n"
        "\tfield:__data_loc cpumask_t mask;\toffset:60;\tsize:4;\tsigned:0;\n"
        "\tfield:__data_loc u64[] list;\toffset:64;\tsize:4;\tsigned:0;\n"
        "\tfield:__rel_loc char[] rel;\toffset:68;\tsize:4;\tsigned:0;\n"
        "\tfield:u8 v4[4];\toffset:72;\tsize:4;\tsigned:0;\n"
        "\tfield:u8 v6[16];\toffset:76;\tsize:16;\tsigned:0;\n"
        "\tfield:__u8 sa[28];\toffset:92;\tsize:28;\tsigned:0;\n"
        "\tfield:unsigned int words[2];\toffset:120;\tsize:8;\tsigned:0;\n"
        "\tfield:__data_loc u8[] addr;\toffset:128;\tsize:4;\tsigned:0;\n"
        "\tfield:bool flag;\toffset:132;\tsize:1;\tsigned:0;\n"
        "\nprint fmt: ";
    text += print_fmt;
    text += '\n';
    auto format = TracepointFormat::parse(text, "sys");
    EXPECT_TRUE(format.has_value());
    format_ = *format;
    return PrintProgram::compile(*format, target_);
  }
  /// The one that was compiled last.
  [[nodiscard]] const TracepointFormat& format() const { return format_; }

  static std::string sample(ByteOrder order = kHostOrder) {
    ByteBuilder raw(order);
    raw.u16(7);
    raw.zeros(2);
    raw.u32(1234);
    raw.u8(static_cast<uint8_t>(-1));
    raw.u8(200);
    raw.u16(static_cast<uint16_t>(-2));
    raw.u32(static_cast<uint32_t>(-3));
    raw.u64(0x123456789abcdef0);
    raw.text(std::string_view("bash\0\0\0\0", 8));
    raw.u64(0);
    raw.u64(0x5000);
    raw.u64(0xffffffff81000010);
    raw.u32(6 << 16 | 136);   // name
    raw.u32(8 << 16 | 144);   // mask
    raw.u32(16 << 16 | 152);  // list
    raw.u32(4 << 16 | 96);    // rel: 72 + 96 = 168
    raw.bytes(as_bytes(std::string_view("\x0a\x02\x03\x04", 4)));
    raw.bytes(as_bytes(std::string_view("\x20\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\x05", 16)));
    raw.u16(2);
    raw.bytes(as_bytes(std::string_view("\x00\x50\x7f\0\0\x01", 6)));
    raw.zeros(20);
    raw.u32(11);
    raw.u32(0xffffffff);
    raw.u32(16 << 16 | 176);  // addr
    raw.u8(1);
    raw.zeros(3);
    raw.text(std::string_view("hello\0\0\0", 8));
    raw.u64(0x8103);
    raw.u64(77);
    raw.u64(~uint64_t{0});
    raw.text(std::string_view("rel\0\0\0\0\0", 8));
    raw.u16(10);
    raw.bytes(as_bytes(std::string_view("\x01\xbb\0\0\0\0\0\0\0\0\0\0\0\0", 14)));
    return std::string(as_text(raw.view()));
  }

  PrintContext context_;
  PrintTarget target_;
  TracepointFormat format_;
};

TEST(PrintFmt, Numbers) {
  Event e;
  EXPECT_EQ(
      e.print(
          R"("%d %u %d %d %llu %lld", REC->tiny, REC->byte, REC->small, REC->neg, REC->big, REC->big)"),
      "-1 200 -2 -3 1311768467463790320 1311768467463790320");
  EXPECT_EQ(
      e.print(
          R"("%x %lx %hx %hhx %hhd %X %o %#x", REC->neg, REC->big, REC->big, REC->big, REC->big, REC->byte, REC->byte, REC->byte)"),
      "fffffffd 123456789abcdef0 def0 f0 -16 C8 310 0xc8");
  EXPECT_EQ(
      e.print(R"("%5d|%-5d|%05d|%+d|% d|%8.3x|%*d|%-*d|", 42, 42, -42, 42, 42, 42, 4, 42, 4, 42)"),
      "   42|42   |-0042|+42| 42|     02a|  42|42  |");
  EXPECT_EQ(
      e.print(
          R"("%zu %zd %zx %Lu %i %08lx %016llx %#x", REC->byte, REC->neg, REC->byte, REC->big, REC->neg, 42, 42, 0)"),
      "200 -3 c8 1311768467463790320 -3 0000002a 000000000000002a 0");
  EXPECT_EQ(e.print(R"("%c%c[%c]", 'o', 107, 0)"), "ok[]");
  EXPECT_EQ(e.print(R"("100%% %d\n%d\t", 1, 2)"), "100% 1\n2\t");
}

TEST(PrintFmt, ArithmeticIsOfC) {
  Event e;
  EXPECT_EQ(e.print(R"("%d %d %d", REC->neg < 0, REC->neg >> 1, -REC->neg)"), "1 -2 3");
  EXPECT_EQ(e.print(R"("%d %llu", REC->neg < 0U, (u32)REC->neg + 0ULL)"), "0 4294967293");
  EXPECT_EQ(e.print(R"("%llu %lld %x", (u8)REC->big, (s8)REC->byte, ~REC->byte)"),
            "240 -56 ffffff37");
  EXPECT_EQ(e.print(R"("%d %d %d %d", 7 / 2, -7 / 2, -7 % 3, 1 ? 2 : 0 ? 3 : 4)"), "3 -3 -1 2");
  EXPECT_EQ(e.print(R"("%d %d", REC->byte / REC->null, REC->byte % (int)(REC->null))"), "0 0");
  EXPECT_EQ(
      e.print(R"("%x %d", 1 + 2 * 3 << 1 | 0x100 & ~0x1 ^ 3, !(REC->null) && REC->byte || 0)"),
      "10f 1");
  EXPECT_EQ(e.print(R"("%u %u", REC->big - 200 > REC->big, REC->words[1] == -1)"), "0 1");
  EXPECT_EQ(e.print(R"("%d %d %d", sizeof(u64), sizeof(struct foo *), sizeof(REC->comm))"),
            "8 8 8");
  EXPECT_EQ(e.print(R"("%d", __builtin_expect(!!(REC->byte), 0) ? 5 : REC->neg)"), "5");
  EXPECT_EQ(e.print(R"("%x %x", __builtin_bswap32(0x11223344), ntohs(0x1234))"), "44332211 3412");
}

TEST(PrintFmt, FieldsElementsAndPointers) {
  Event e;
  EXPECT_EQ(e.print(R"("%u %u %d", REC->words[0], REC->v4[3], REC->words[9])"), "11 4 0");
  EXPECT_EQ(e.print(R"("%d %d", (REC)->byte, REC->common_pid)"), "200 1234");
  EXPECT_EQ(e.print(R"("%lld %d", ((u64 *)__get_dynamic_array(list))[0], *(u8 *)&REC->byte)"),
            "77 200");
  EXPECT_EQ(e.print(R"("%d %d", __get_str(name)[0], __get_str(name)[0] ? 1 : 0)"), "104 1");
  EXPECT_EQ(
      e.print(
          R"("%d %d", __get_dynamic_array_len(list), __get_dynamic_array_len(list) / sizeof(u64))"),
      "16 2");
  EXPECT_EQ(e.print(R"("%d", REC->__data_loc_name >> 16)"), "6");
}

TEST(PrintFmt, Strings) {
  Event e;
  EXPECT_EQ(
      e.print(
          R"("%s|%8s|%-8s|%.2s|%.*s", REC->comm, REC->comm, REC->comm, REC->comm, 3, REC->comm)"),
      "bash|    bash|bash    |ba|bas");
  EXPECT_EQ(e.print(R"("%s %s %s", __get_str(name), __get_rel_str(rel), (char *)REC->comm)"),
            "hello rel bash");
  EXPECT_EQ(e.print(R"("%s %s", REC->str, REC->fn)"), "constant text ffffffff81000010");
  EXPECT_EQ(e.print(R"("%s%s", REC->flag ? "yes" : "no", REC->null ? REC->comm : " none")"),
            "yes none");
  EXPECT_EQ(e.print(R"("a" "b %s", "c" "d")"), "ab cd");
  EXPECT_EQ(e.print(R"("%.*s|%s", 0, REC->null ? __get_str(name) : ((void *)0), ((void *)0))"),
            "|(null)");
}

TEST(PrintFmt, FlagsAndSymbols) {
  Event e;
  EXPECT_EQ(e.print(R"("%s", __print_flags(REC->byte, "|", {8, "A"}, {0x40, "B"}, {1, "C"}))"),
            "A|B|0x80");
  EXPECT_EQ(
      e.print(
          R"("[%s] %8s", __print_flags(REC->null, "|", {0, "Z"}, {1, "A"}), __print_symbolic(5, {5, "five"}))"),
      "[]     five");
  EXPECT_EQ(
      e.print(
          R"("%s %s", __print_symbolic(REC->neg, {-3, "minus"}), __print_symbolic(REC->byte, {1, "x"}, {2, "y"}))"),
      "minus 0xc8");
  EXPECT_EQ(
      e.print(
          R"("%s", __print_flags(REC->byte, "", {(1UL << 3) | 0x40, "both"}, {0x80, "top"}, {0, ((void *)0)}))"),
      "bothtop");
  EXPECT_EQ(
      e.print(
          R"("%s %s", __print_flags_u64(REC->big, ",", {0xf0ULL, "low"}), __print_symbolic_u64(1ULL << 40, {1ULL << 40, "T"}))"),
      "low,0x123456789abcde00 T");
  EXPECT_EQ(e.print(R"("%s", __print_symbolic(REC->byte, { }))"), "0xc8");
}

TEST(PrintFmt, NamesOfConstants) {
  PrintTarget target;
  target.constant = [](std::string_view name) -> std::optional<int64_t> {
    return name == "MY_NAME" ? std::optional<int64_t>(200) : std::nullopt;
  };
  Event e(target);
  EXPECT_EQ(
      e.print(
          R"("%s %s", __print_symbolic(REC->byte, {MY_NAME, "mine"}), __print_symbolic(10, {TCP_LISTEN, "listen"}))"),
      "mine listen");
  // Unknown names match nothing in lists, and count as 0 elsewhere.
  PrintProgram program =
      e.compile(R"("%s %d", __print_symbolic(0, {NOBODY_KNOWS, "x"}), NOBODY_KNOWS + 3)");
  EXPECT_EQ(program.unresolved(), std::vector<std::string>{"NOBODY_KNOWS"});
  EXPECT_EQ(e.print(R"("%s %d", __print_symbolic(0, {NOBODY_KNOWS, "x"}), NOBODY_KNOWS + 3)"),
            "0x0 3");
}

TEST(PrintFmt, Pointers) {
  Event e;
  EXPECT_EQ(e.print(R"("%p %p %px %pK", REC->null, REC->str, REC->str, REC->str)"),
            "(nil) 0x5000 0x5000 0x5000");
  EXPECT_EQ(
      e.print(
          R"("%pS %ps %pF %pf %pSR %pB", REC->fn, REC->fn, REC->fn, REC->fn, REC->fn, REC->fn)"),
      "do_work+0x10 do_work do_work+0x10 do_work do_work+0x10 do_work+0x10");
  EXPECT_EQ(e.print(R"("%ps %pS", REC->null, REC->str)"), "0x0 0x5000");
  EXPECT_EQ(e.print(R"("%pe %pe", -2, REC->str)"), "-ENOENT 0x5000");
}

TEST(PrintFmt, Addresses) {
  Event e;
  EXPECT_EQ(e.print(R"("%pI4 %pi4 %pI4l", REC->v4, REC->v4, REC->v4)"),
            "10.2.3.4 010.002.003.004 4.3.2.10");
  EXPECT_EQ(e.print(R"("%pI6c %pI6 %pi6", REC->v6, REC->v6, REC->v6)"),
            "2001::5 2001:0000:0000:0000:0000:0000:0000:0005 20010000000000000000000000000005");
  EXPECT_EQ(e.print(R"("%pISpc %pIS %pISp", REC->sa, REC->sa, __get_sockaddr(addr))"),
            "127.0.0.1:80 127.0.0.1 ");
  EXPECT_EQ(e.print(R"("%pM %pm %pMF %pMR", REC->v6, REC->v6, REC->v6, REC->v6)"),
            "20:01:00:00:00:00 200100000000 20-01-00-00-00-00 00:00:00:00:01:20");
  EXPECT_EQ(e.print(R"("%pU %pUL", REC->v6, REC->v6)"),
            "20010000-0000-0000-0000-000000000005 00000120-0000-0000-0000-000000000005");
  EXPECT_EQ(e.print(R"("%*ph|%4phC|%3phN", 3, REC->v4, REC->v4, REC->v4)"),
            "0a 02 03|0a:02:03:04|0a0203");
}

TEST(PrintFmt, ArraysAndMasks) {
  Event e;
  EXPECT_EQ(
      e.print(
          R"("%s", __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / sizeof(u64), sizeof(u64)))"),
      "{0x4d,0xffffffffffffffff}");
  EXPECT_EQ(e.print(R"("%s %s", __print_array(REC->v4, 4, 1), __print_dynamic_array(list, 8))"),
            "{0xa,0x2,0x3,0x4} {0x4d,0xffffffffffffffff}");
  EXPECT_EQ(e.print(R"("%s|%s", __print_hex(REC->v4, 4), __print_hex_str(REC->v4, 3))"),
            "0a 02 03 04|0a0203");
  EXPECT_EQ(e.print(R"("%s %s", __get_bitmask(mask), __get_cpumask(mask))"),
            "00000000,00008103 00000000,00008103");
  EXPECT_EQ(
      e.print(R"("%*pbl %*pb", 64, __get_dynamic_array(mask), 12, __get_dynamic_array(mask))"),
      "0-1,8,15 103");
  EXPECT_EQ(e.print(R"("%s", __print_hex_dump("d: ", 2, 16, 1, REC->comm, 8, 1))"),
            "\nd: 00000000: 62 61 73 68 00 00 00 00                          bash....\n");
}

TEST(PrintFmt, KernelFunctions) {
  Event e;
  EXPECT_EQ(e.print(R"("%u %u", jiffies_to_msecs(250), jiffies_to_msecs(REC->byte))"), "1000 800");
  EXPECT_EQ(
      e.print(
          R"("%llu.%09u", __print_ns_to_secs(3000000042), __print_ns_without_secs(3000000042))"),
      "3.000000042");
  EXPECT_EQ(e.print(R"("%s %s", mc_event_error_type(1), mc_event_error_type(REC->byte))"),
            "Uncorrected Info");
}

TEST(PrintFmt, StatementExpressions) {
  Event e;
  EXPECT_EQ(
      e.print(R"x("%d", ({ int x1 = (REC->neg); int y2 = (128); ((x1) < (y2) ? (x1) : (y2)); }))x"),
      "-3");
  EXPECT_EQ(
      e.print(
          R"x("%s %s", ({ const char *saved_ptr = trace_seq_buffer_ptr(p); static const char *access_str[] = { "---", "--x", "w--" }; )x"
          R"x(union kvm_mmu_page_role role; role.word = REC->byte; trace_seq_printf(p, "l%u %s q%u%s" " %s%c", role.level, )x"
          R"x(access_str[role.access + 1], role.quadrant, role.direct ? " direct" : "", REC->comm, 0); saved_ptr; }), "end")x"),
      "l8 --x q2 direct bash end");
}

TEST(PrintFmt, ListsFieldsWhereItCannotCompile) {
  Event e;
  for (const char* bad :
       {"", "x", "\"%d\"", "\"%d\", unknown_function(REC->byte)", "\"%d\", REC->nosuch",
        "\"%d\", (1", "\"%s\", __print_flags(1, \"|\", {REC->byte, \"x\"})", "\"%d\", \"a\" + 1",
        "\"%d\", 1 2"}) {
    EXPECT_NE(e.compile(bad).problem(), "") << bad;
    EXPECT_TRUE(e.print(bad).starts_with("[FAILED TO PARSE] tiny=-1 byte=200 small=-2 neg=-3"))
        << bad;
  }
}

TEST(PrintFmt, BigEndianAnd32Bit) {
  PrintTarget target;
  target.order = ByteOrder::kBig;
  target.word_size = 4;
  Event e(target);
  PrintProgram program = e.compile(
      R"("%d %x %lx %s %pI4 %d %s", REC->neg, REC->big, REC->big, __get_str(name), REC->v4, sizeof(long), __get_bitmask(mask))");
  std::string out;
  program.print(as_bytes(Event::sample(ByteOrder::kBig)), e.context_, out);
  EXPECT_EQ(out, "-3 9abcdef0 9abcdef0 hello 10.2.3.4 4 00008103,00000000");
}

TEST(PrintFmt, NamesOfValuesAreListedByField) {
  Event e;
  PrintProgram program = e.compile(
      R"("%s %s %s", __print_flags(REC->big & 0xff, "|", {1, "ONE"}, {2, "TWO"}), __print_symbolic((REC->byte), {0, "HI"}), __print_symbolic(3, {3, "none"}))");
  ASSERT_EQ(program.problem(), "");
  std::vector<ValueNames> names = program.value_names(e.format());
  ASSERT_EQ(names.size(), 2U);  // a constant is no field
  EXPECT_EQ(names[0].field, "big");
  EXPECT_TRUE(names[0].are_flags);
  EXPECT_EQ(names[0].delimiter, "|");
  ASSERT_EQ(names[0].entries.size(), 2U);
  EXPECT_EQ(names[0].entries[1].value, 2U);
  EXPECT_EQ(names[0].entries[1].name, "TWO");
  EXPECT_EQ(names[1].field, "byte");
  EXPECT_FALSE(names[1].are_flags);
}

TEST(PrintFmt, HostileInputIsBounded) {
  Event e;
  std::string deep(5000, '(');
  EXPECT_NE(e.compile("\"%d\", " + deep + "1").problem(), "");
  std::string unary(5000, '~');
  EXPECT_NE(e.compile("\"%d\", " + unary + "1").problem(), "");
  std::string doubling = "\"%d\", ({ int a0 = REC->neg; ";
  for (int i = 0; i < 60; ++i) doubling += fmt::format("int a{} = a{} + a{}; ", i + 1, i, i);
  EXPECT_NE(e.compile(doubling + "a60; })").problem(), "");
  std::string sum = "\"%d\", 1";
  for (int i = 0; i < 15000; ++i) sum += "+REC->neg";
  (void)e.print(sum);
  EXPECT_EQ(e.print(R"("%4000000000d|%.*d|%*d", 1, 2000000000, 1, -2000000000, 1)").size() < 20000,
            true);

  const char* all =
      R"("%s %s %s %pI6c %pISpc %pU %*pbl %s %d %s", REC->comm, __get_str(name), __get_rel_str(rel), REC->v6, REC->sa, REC->v6, 4000, __get_dynamic_array(mask), __print_hex(REC->v4, 100000), ((u64 *)__get_dynamic_array(list))[REC->neg], __print_array(__get_dynamic_array(list), 1 << 30, 8))";
  for (size_t size = 0; size < Event::sample().size(); ++size) (void)e.print(all, size);
  std::string text = all;
  for (size_t size = 0; size < text.size(); ++size) (void)e.print(text.substr(0, size));
}

}  // namespace
}  // namespace sonde
