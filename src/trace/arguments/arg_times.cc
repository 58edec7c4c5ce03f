// Times: structures of seconds and a fraction.
#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

constexpr std::string_view kNanoseconds = "tv_nsec", kMicroseconds = "tv_usec";

void print_time_of(ArgContext& context, bool has_words_of_32, std::string_view fraction) {
  print_structure(context, has_words_of_32 ? 8 : 16, [&](std::string& out, ByteCursor& cursor) {
    append_time(out, cursor, has_words_of_32, fraction);
  });
}

void print_interval(ArgContext& context, std::string_view fraction) {
  print_structure(context, context.is_32() ? 16 : 32, [&](std::string& out, ByteCursor& cursor) {
    StructText text(out);
    append_time(text.field("it_interval"), cursor, context.is_32(), fraction);
    append_time(text.field("it_value"), cursor, context.is_32(), fraction);
    text.end();
  });
}

// Of utimensat: "now" and "omit" have names.
void append_file_time(std::string& out, ByteCursor& cursor, bool is_32) {
  constexpr int64_t kNow = 0x3fffffff, kOmit = 0x3ffffffe;  // UTIME_NOW, UTIME_OMIT of linux/stat.h
  ByteCursor ahead = cursor;
  ahead.skip(is_32 ? 4 : 8);
  int64_t fraction = read_signed_word(ahead, is_32);
  if (fraction != kNow && fraction != kOmit) return append_time(out, cursor, is_32, kNanoseconds);
  out += fraction == kNow ? "UTIME_NOW" : "UTIME_OMIT";
  cursor = ahead;
}

}  // namespace

void append_time(std::string& out, ByteCursor& cursor, bool is_32, std::string_view fraction) {
  int64_t seconds = read_signed_word(cursor, is_32), rest = read_signed_word(cursor, is_32);
  StructText(out).number("tv_sec", seconds).number(fraction, rest).end();
}

void print_timespec(ArgContext& context) {
  print_time_of(context, context.is_32(), kNanoseconds);
}
void print_timespec64(ArgContext& context) {
  print_time_of(context, false, kNanoseconds);
}
void print_timeval(ArgContext& context) {
  print_time_of(context, context.is_32(), kMicroseconds);
}
void print_itimerval(ArgContext& context) {
  print_interval(context, kMicroseconds);
}
void print_itimerspec(ArgContext& context) {
  print_interval(context, kNanoseconds);
}

void print_timespecs(ArgContext& context) {
  print_structure(context, context.is_32() ? 16 : 32, [&](std::string& out, ByteCursor& cursor) {
    out += '[';
    append_file_time(out, cursor, context.is_32());
    out += ", ";
    append_file_time(out, cursor, context.is_32());
    out += ']';
  });
}
void print_timevals(ArgContext& context) {
  print_structure(context, context.is_32() ? 16 : 32, [&](std::string& out, ByteCursor& cursor) {
    out += '[';
    append_time(out, cursor, context.is_32(), kMicroseconds);
    out += ", ";
    append_time(out, cursor, context.is_32(), kMicroseconds);
    out += ']';
  });
}

void print_timezone(ArgContext& context) {
  print_structure(context, 8, [](std::string& out, ByteCursor& cursor) {
    auto west = static_cast<int32_t>(cursor.u32()), dst = static_cast<int32_t>(cursor.u32());
    StructText(out).number("tz_minuteswest", west).number("tz_dsttime", dst).end();
  });
}

void print_utimbuf(ArgContext& context) {
  print_structure(context, context.is_32() ? 8 : 16, [&](std::string& out, ByteCursor& cursor) {
    int64_t access = read_signed_word(cursor, context.is_32()),
            change = read_signed_word(cursor, context.is_32());
    StructText(out).number("actime", access).number("modtime", change).end();
  });
}

void print_tms(ArgContext& context) {
  print_structure(context, context.is_32() ? 16 : 32, [&](std::string& out, ByteCursor& cursor) {
    StructText text(out);
    for (std::string_view name : {"tms_utime", "tms_stime", "tms_cutime", "tms_cstime"})
      text.number(name, read_signed_word(cursor, context.is_32()));
    text.end();
  });
}

void print_time(ArgContext& context) {
  print_structure(context, context.is_32() ? 4 : 8, [&](std::string& out, ByteCursor& cursor) {
    out += '[';
    append_decimal(out, read_signed_word(cursor, context.is_32()));
    out += ']';
  });
}

}  // namespace sonde
