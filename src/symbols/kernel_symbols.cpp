#include "symbols/kernel_symbols.hpp"

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/text.hpp"
#include "symbols/elf_symbols.hpp"
#include "symbols/elf_table.hpp"

namespace loft::symbols {
namespace {

constexpr std::size_t kMostKallsyms = 256u << 20;
constexpr std::uint64_t kPage = 4096;

struct KallsymsLine {
  std::uint64_t address = 0;
  char type = 0;
  std::string_view name;
  std::string_view module;  // empty for the kernel itself

  [[nodiscard]] bool is_code() const {
    return std::string_view("tTwWi").find(type) != std::string_view::npos;
  }
};

constexpr std::array<std::int8_t, 256> kHexDigits = [] {
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  for (std::int8_t i = 0; i < 10; ++i) digits[static_cast<std::size_t>('0' + i)] = i;
  for (std::int8_t i = 0; i < 6; ++i)
    digits[static_cast<std::size_t>('a' + i)] = digits[static_cast<std::size_t>('A' + i)] =
        static_cast<std::int8_t>(10 + i);
  return digits;
}();

// "ffffffff81000000 T _text" or "ffffffffc0001000 t init [nf_tables]". There are more than a
// hundred thousand of them, and they are read before anything is shown.
std::optional<KallsymsLine> parse_line(std::string_view line) {
  std::uint64_t address = 0;
  std::size_t blank = 0;
  for (; blank < line.size(); ++blank) {
    const int digit = kHexDigits[static_cast<unsigned char>(line[blank])];
    if (digit < 0) break;
    address = address << 4 | static_cast<std::uint64_t>(digit);
  }
  if (blank == 0 || blank > 16 || line.size() < blank + 4 || line[blank] != ' ' ||
      line[blank + 2] != ' ')
    return std::nullopt;
  KallsymsLine parsed{address, line[blank + 1], line.substr(blank + 3), {}};
  if (parsed.name.back() != ']' && parsed.name.back() > ' ') return parsed;
  const std::size_t end = parsed.name.find_first_of(" \t");
  if (end != std::string_view::npos) {
    const std::string_view rest = trim(parsed.name.substr(end));
    parsed.name = parsed.name.substr(0, end);
    if (rest.size() > 2 && rest.front() == '[' && rest.back() == ']')
      parsed.module = rest.substr(1, rest.size() - 2);
  }
  return parsed;
}

std::vector<KallsymsLine> parse_kallsyms(std::string_view text) {
  constexpr std::size_t kUsualLine = 40;
  std::vector<KallsymsLine> lines;
  lines.reserve(text.size() / kUsualLine);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto line = parse_line(text.substr(0, end)); line && line->address != 0)
      lines.push_back(*line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto by_address = [](const KallsymsLine& a, const KallsymsLine& b) {
    return a.address < b.address;
  };
  if (!std::is_sorted(lines.begin(), lines.end(), by_address))
    std::stable_sort(lines.begin(), lines.end(), by_address);
  return lines;
}

// Kallsyms has no sizes. A function ends where anything else starts; the last one of a module, for
// want of better, with the page after its own.
std::uint64_t end_of_line(const std::vector<KallsymsLine>& lines, std::size_t index) {
  const KallsymsLine& line = lines[index];
  std::size_t next = index + 1;
  while (next < lines.size() && lines[next].address == line.address) ++next;
  if (next < lines.size() && lines[next].module == line.module) return lines[next].address;
  const std::uint64_t guess = (line.address + 2 * kPage - 1) & ~(kPage - 1);
  return next < lines.size() ? std::min(guess, lines[next].address) : guess;
}

bool is_running_kernel(const Binary& binary, const SymbolOptions& options) {
  if (!binary.build_id.empty()) {
    const auto notes = read_file(options.root.at("/sys/kernel/notes"));
    return notes && same_build_id(build_id_in_notes(std::as_bytes(std::span(*notes)), kHostOrder),
                                  binary.build_id);
  }
  const auto release = read_line(options.root.at("/proc/sys/kernel/osrelease"));
  return release && !options.kernel_release.empty() && *release == options.kernel_release;
}

// A recorder that was killed names neither build nor release of its kernel. One that started at the
// very address where the running one did is taken for it.
bool starts_where_running(const std::string& kallsyms, const Binary& binary);

// "[kernel.kallsyms]_stext" names the symbol that the recording places; usually it is _text.
std::string reference_symbol(const std::string& path) {
  const std::size_t bracket = path.find(']');
  const std::string name = bracket == std::string::npos ? "" : path.substr(bracket + 1);
  return name.empty() ? "_text" : name;
}

std::string module_name(const std::string& path) {
  if (path.starts_with("[kernel") || path.starts_with("[guest.kernel") ||
      path.find("vmlinux") != std::string::npos)
    return {};
  if (path.starts_with('[')) return path.substr(1, path.find(']') - 1);
  std::string name = path.substr(path.rfind('/') + 1);
  name.resize(std::min(name.find(".ko"), name.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// A kallsyms of another boot: the same kernel, perhaps elsewhere in memory.
bool fill_from_moved_kallsyms(const SharedText& text, const Binary& binary,
                              const SymbolOptions& options, SymbolTable::Parts& parts) {
  std::uint64_t distance = 0;
  if (binary.kernel_text != 0) {
    const auto reference = address_in_kallsyms(*text, reference_symbol(binary.path));
    if (!reference) return false;
    distance = binary.kernel_text - *reference;
  } else {
    parts.why = "assumes that the machine was not restarted since the recording";
  }
  const std::string module = module_name(binary.path);
  // Modules are not moved together with the kernel.
  if (distance != 0 && !module.empty()) return false;
  SymbolArray::Builder builder;
  if (add_kallsyms(text, module, builder) == 0) return false;
  builder.move_by(distance);
  parts.symbols = builder.finish(options.names);
  return true;
}

bool fill_from_vmlinux(const Binary& binary, const SymbolOptions& options,
                       SymbolTable::Parts& parts) {
  if (binary.kernel_text == 0 || binary.build_id.empty()) return false;
  const BinaryFinder finder(options);
  std::vector<std::string> candidates = finder.by_build_id(binary.build_id);
  candidates.push_back(finder.in_cache(binary.build_id, "elf"));
  if (!options.kernel_release.empty() && options.kernel_release.find('/') == std::string::npos) {
    for (const char* folder : {"/usr/lib/debug/boot/vmlinux-", "/boot/vmlinux-"})
      candidates.push_back(options.root.at(folder + options.kernel_release));
  }
  for (const std::string& candidate : candidates) {
    if (!is_regular_file(candidate)) continue;
    const auto elf = ElfFile::open(candidate);
    if (!elf || !same_build_id((*elf)->build_id(), binary.build_id)) continue;
    const auto reference = address_of_symbol(**elf, reference_symbol(binary.path));
    if (!reference) continue;
    parts.moved_by = binary.kernel_text - *reference;
    return fill_from_elf({*elf, nullptr, {}}, options, parts);
  }
  return false;
}

bool fill_from_running_kernel(const Binary& binary, const SymbolOptions& options,
                              SymbolTable::Parts& parts) {
  const bool is_nameless = binary.build_id.empty() && options.kernel_release.empty();
  if (!is_nameless && !is_running_kernel(binary, options)) {
    parts.why = "the recorded kernel is not the running one";
    return false;
  }
  auto text = read_file(options.root.at("/proc/kallsyms"), kMostKallsyms);
  if (!text) {
    parts.why = text.error().why;
    return false;
  }
  if (is_nameless && !starts_where_running(*text, binary)) {
    parts.why = "the recording does not say which kernel it was";
    return false;
  }
  const auto shared = std::make_shared<const std::string>(std::move(*text));
  if (fill_from_moved_kallsyms(shared, binary, options, parts)) return true;
  parts.why = "/proc/kallsyms shows no addresses (kernel.kptr_restrict)";
  return false;
}

}  // namespace

std::optional<std::uint64_t> address_in_kallsyms(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.ends_with(name)) {
      const auto parsed = parse_line(line);
      if (parsed && parsed->name == name && parsed->address != 0) return parsed->address;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

namespace {

bool starts_where_running(const std::string& kallsyms, const Binary& binary) {
  return binary.kernel_text != 0 &&
         address_in_kallsyms(kallsyms, reference_symbol(binary.path)) == binary.kernel_text;
}

}  // namespace

std::size_t add_kallsyms(const SharedText& text, std::string_view module,
                         SymbolArray::Builder& into) {
  const std::vector<KallsymsLine> lines = parse_kallsyms(*text);
  std::size_t added = 0;
  into.keep_alive(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const KallsymsLine& line = lines[i];
    if (!line.is_code() || (!module.empty() && line.module != module)) continue;
    if (line.name.empty() || line.name.starts_with('$') || line.name.starts_with(".L")) continue;
    const std::uint64_t end = end_of_line(lines, i);
    const bool is_local = line.type == 't';
    const bool is_weak = line.type == 'w' || line.type == 'W';
    into.add({line.address, end - line.address, line.name, end,
              is_local  ? Candidate::Binding::local
              : is_weak ? Candidate::Binding::weak
                        : Candidate::Binding::global,
              true});
    ++added;
  }
  return added;
}

SymbolTable::Parts read_kernel(const Binary& binary, const SymbolOptions& options,
                               const SharedText& recorded) {
  SymbolTable::Parts parts{.binary = binary, .build_id = binary.build_id, .is_absolute = true};
  const std::string module = module_name(binary.path);
  if (recorded != nullptr) {
    SymbolArray::Builder builder;
    if (add_kallsyms(recorded, module, builder) != 0) {
      parts.symbols = builder.finish(options.names);
      return parts;
    }
  }
  const BinaryFinder finder(options);
  if (const std::string cached = finder.in_cache(binary.build_id, "kallsyms"); !cached.empty()) {
    if (auto text = read_file(cached, kMostKallsyms)) {
      const auto shared = std::make_shared<const std::string>(std::move(*text));
      if (fill_from_moved_kallsyms(shared, binary, options, parts)) return parts;
    }
  }
  if (module.empty() && fill_from_vmlinux(binary, options, parts)) return parts;
  if (fill_from_running_kernel(binary, options, parts)) return parts;
  if (!module.empty() && binary.path.starts_with('/')) {
    const FoundFiles found = finder.find(binary);
    parts.is_absolute = false;
    if (fill_from_elf(found, options, parts)) return parts;
  }
  return parts;
}

}  // namespace loft::symbols
