#include "symbols/symbol_store.hpp"

#include <fmt/format.h>

#include "symbols/elf_table.hpp"
#include "symbols/jit_symbols.hpp"
#include "symbols/kernel_symbols.hpp"
#include "symbols/recorded_symbols.hpp"
#include "symbols/symbol_array.hpp"
#include "symbols/vdso.hpp"

namespace loft::symbols {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

SymbolTable::Parts read_found(const Binary& binary, const SymbolOptions& options,
                              const SharedText& kallsyms) {
  const std::string_view name = base_name(binary.path);
  if (binary.path == "[vdso]" || binary.path == "[vdso32]") return read_vdso(binary, options);
  if (binary.is_kernel) return read_kernel(binary, options, kallsyms);
  if (name.starts_with("perf-") && name.ends_with(".map"))
    return read_perf_map(binary.path, options);
  if (is_jit_dump(binary.path)) return read_jitdump(binary.path, options);
  SymbolTable::Parts parts{.binary = binary};
  if (is_memory(binary.path)) {
    parts.why = "memory without a file";
    parts.is_absolute = true;
    return parts;
  }
  fill_from_elf(BinaryFinder(options).find(binary), options, parts);
  return parts;
}

// A file of the recorded build knows more than the recording: lines, inlined functions. One that
// only has the same path may be another.
SymbolTable::Parts read(const Binary& binary, const SymbolOptions& options,
                        const SharedText& kallsyms, const RecordedSymbols& recorded) {
  SymbolTable::Parts parts{.binary = binary};
  const bool is_sure = binary.is_kernel || !binary.build_id.empty() || !recorded.has(binary.path);
  if (is_sure) parts = read_found(binary, options, kallsyms);
  if (parts.symbols == nullptr || parts.symbols->size() == 0) recorded.fill(options.names, parts);
  return parts;
}

}  // namespace

bool is_memory(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("/anon_hugepage") ||
         path.starts_with("/dev/zero") || path.starts_with("/memfd:") ||
         path.starts_with("/SYSV") || path.starts_with("[heap") || path.starts_with("[stack") ||
         path == "[vsyscall]" || path == "[uprobes]" || path.starts_with("[anon");
}

bool is_jit_dump(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.starts_with("jit-") && name.ends_with(".dump");
}

SymbolStore::SymbolStore(SymbolOptions options) : options_(std::move(options)) {
  if (!options_.kallsyms.empty())
    kallsyms_ = std::make_shared<const std::string>(std::move(options_.kallsyms));
  options_.kallsyms.clear();
  recorded_ = std::make_shared<const RecordedSymbols>(std::move(options_.recorded));
  options_.recorded.clear();
}

SymbolStore::~SymbolStore() = default;

template <class Read>
std::shared_ptr<const SymbolTable> SymbolStore::read_once(const std::string& key,
                                                          const Read& read) {
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    auto& kept = slots_[key];
    if (kept == nullptr) kept = std::make_shared<Slot>();
    slot = kept;
  }
  std::call_once(slot->once, [&] { slot->table = std::make_shared<const SymbolTable>(read()); });
  return slot->table;
}

std::shared_ptr<const SymbolTable> SymbolStore::open(const Binary& binary) {
  const std::string key = fmt::format("{}\n{}\n{}\n{:x}", binary.path, binary.build_id,
                                      binary.is_kernel ? 'k' : 'u', binary.kernel_text);
  return read_once(key, [&] { return read(binary, options_, kallsyms_, *recorded_); });
}

std::shared_ptr<const SymbolTable> SymbolStore::open_jit(pid_t pid, const std::string& dump,
                                                         const std::string& path) {
  if (recorded_->has(path))
    return read_once("made\n" + path, [&] { return recorded_->made_code(path, options_.names); });
  if (!dump.empty()) {
    auto table = open({.path = dump});
    if (table->symbol_count() != 0) return table;
  }
  return open({.path = fmt::format("/tmp/perf-{}.map", pid)});
}

}  // namespace loft::symbols
