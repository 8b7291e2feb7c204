// The data of a page, read back as a browser reads them.
#pragma once

#include <zlib.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loft::view {

struct UnpackedPage {
  nlohmann::json head;
  std::string columns;

  template <typename T>
  [[nodiscard]] std::vector<T> column(const nlohmann::json& packed) const {
    const std::size_t length = packed.at("length");
    if (!packed.contains("at")) return std::vector<T>(length, packed.at("all").get<T>());
    std::vector<T> values(length);
    std::memcpy(values.data(), columns.data() + packed.at("at").get<std::size_t>(),
                length * sizeof(T));
    return values;
  }
};

inline std::string from_base64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    held = held << 6 | static_cast<unsigned>(kDigits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 255);
  }
  return out;
}

inline std::string inflated(std::string packed) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  std::string out(packed.size() * 200 + 100000, '\0');  // more than these pages need
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = inflate(&stream, Z_FINISH);
  out.resize(ended == Z_STREAM_END ? stream.total_out : 0);
  inflateEnd(&stream);
  return out;
}

inline std::optional<UnpackedPage> unpack_page(std::string_view html) {
  constexpr std::string_view kBefore = "id=\"data\">";
  const auto start = html.find(kBefore);
  if (start == std::string_view::npos) return std::nullopt;
  const auto data = html.substr(start + kBefore.size());
  const std::string bytes = inflated(from_base64(data.substr(0, data.find('<'))));
  if (bytes.size() < 8) return std::nullopt;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return UnpackedPage{nlohmann::json::parse(bytes.substr(8, length)),
                      bytes.substr((8 + length + 7) / 8 * 8)};
}

}  // namespace loft::view
