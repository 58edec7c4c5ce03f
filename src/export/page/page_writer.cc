#include "export/page/page_writer.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>

#include "export/pictures/svg.h"

namespace sonde {
namespace {

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Takes half the time of zlib's default level, for a twentieth more bytes.
constexpr int kPageLevel = 4;

/// Nothing may be fetched from anywhere; the browser enforces it.
constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

}  // namespace

Result<std::string> deflate_raw(std::string_view bytes) {
  z_stream stream{};
  constexpr int kRaw = -15;  // windowBits: negative means no header
  if (deflateInit2(&stream, kPageLevel, Z_DEFLATED, kRaw, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorCode::kFailed, "not enough memory to compress the page's data");
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));  // only read
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  // zlib counts in 32 bits: larger data goes through in pieces.
  constexpr size_t kPiece = size_t{1} << 30;
  size_t in_left = bytes.size(), out_left = packed.size();
  int status = Z_OK;
  while (status == Z_OK) {
    stream.avail_in = static_cast<uInt>(std::min(in_left, kPiece));
    stream.avail_out = static_cast<uInt>(std::min(out_left, kPiece));
    size_t in_given = stream.avail_in, out_given = stream.avail_out;
    status = deflate(&stream, in_left == in_given ? Z_FINISH : Z_NO_FLUSH);
    in_left -= in_given - stream.avail_in;
    out_left -= out_given - stream.avail_out;
  }
  deflateEnd(&stream);
  if (status != Z_STREAM_END)
    return fail(ErrorCode::kFailed, "the page's data cannot be compressed: zlib returned {}",
                status);
  packed.resize(packed.size() - out_left);
  return packed;
}

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t here = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < here ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      text.push_back(j <= here ? kBase64Alphabet[group >> (18 - 6 * j) & 63] : '=');
  }
  return text;
}

Result<> write_page(Sink& out, const StackProfile& profile, const PageDescription& description) {
  std::string packed = TRY(deflate_raw(page_data(profile, description)));
  out.write("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  out.print("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", kPagePolicy);
  out.write("<meta name=\"viewport\" content=\"width=device-width\">\n");
  out.write("<link rel=\"icon\" href=\"data:,\">\n");
  out.print("<title>{}</title>\n<style>", escaped(description.title));
  out.write_lines(explorer_style());
  out.write("</style>\n</head>\n<body>\n<noscript>This page needs JavaScript.</noscript>\n");
  out.write("<script type=\"text/plain\" id=\"profile\">");
  out.write_lines(base64(packed));
  out.write("</script>\n<script>");
  out.write_lines(explorer_script());
  out.write("</script>\n</body>\n</html>\n");
  return {};
}

}  // namespace sonde
