// The names of one binary: which function, source line and inlined calls an address belongs to.
//
//   const auto table = store.open({.path = "/usr/bin/app", .build_id = "3fa9..."});
//   const std::uint64_t address = table->address_of(ip, mapping_start, mapping_file_offset);
//   if (const Symbol* symbol = table->find(address)) use(symbol->name);
//   else use(table->describe(address));          // "app+0x1234 [3fa9...]", and table->why()
//
// For a return address of a call chain, look up ip - 1: the call may be a function's last
// instruction. Everything here is safe to call from several threads. Views and Symbol pointers
// live as long as the table; there is one Symbol per function, so its pointer is a good key.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loft::symbols {

// What a recording says of a mapped file.
struct Binary {
  std::string path;      // as mapped: "/usr/bin/app", "[vdso]", "[kernel.kallsyms]", "[nf_tables]"
  std::string build_id;  // hexadecimal; empty when the recording has none
  bool is_kernel = false;
  // Kernel only: where _text (or the symbol that the recording names) was while it was recorded;
  // 0 when it is not known. Kernels are moved at each boot.
  std::uint64_t kernel_text = 0;
};

struct Symbol {
  std::string_view name;  // demangled; not yet safe for a terminal, see printable()
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

struct SourceLine {
  std::string_view file;
  unsigned line = 0;  // 0: compiled code that belongs to no line of this file

  bool operator==(const SourceLine&) const = default;
};

// A function whose body the compiler put into its caller.
struct InlinedFrame {
  std::string_view function;
  SourceLine call;  // where, in the function around it, it was called

  bool operator==(const InlinedFrame&) const = default;
};

class DebugInfo;
class SymbolArray;
class ElfFile;
class UnwindTable;

class SymbolTable {
 public:
  // What a table is made of. Only the store and the readers of each format fill this in.
  struct Parts {
    Binary binary;
    std::string build_id;  // of the file that was read
    std::string why;
    bool is_absolute = false;
    std::uint64_t moved_by = 0;
    std::shared_ptr<const ElfFile> elf;  // the mapped file: segments, unwind tables
    std::shared_ptr<const SymbolArray> symbols;
    std::shared_ptr<const DebugInfo> debug_info;  // null when there is none
  };
  explicit SymbolTable(Parts parts);
  ~SymbolTable();
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  // The table's address of an instruction pointer inside a mapping that starts at `map_start` and
  // shows the file from `map_offset`. Files go through their program headers; kernels and JIT code
  // are known by the address they ran at.
  [[nodiscard]] std::uint64_t address_of(std::uint64_t ip, std::uint64_t map_start,
                                         std::uint64_t map_offset) const;

  // The virtual address at which the file says a byte of it belongs. An offset outside of every
  // segment comes back as it is. Of a kernel module, offsets count from the start of its code.
  [[nodiscard]] std::uint64_t address_of_offset(std::uint64_t file_offset) const;

  // Null when no function is there.
  [[nodiscard]] const Symbol* find(std::uint64_t address) const;

  // All functions of that name, as it is shown or as it is in the file. Looks through them all.
  [[nodiscard]] std::vector<const Symbol*> named(std::string_view name) const;

  // All that can be called, by address: without stubs of calls elsewhere and cold parts.
  [[nodiscard]] std::vector<const Symbol*> functions() const;

  [[nodiscard]] std::optional<SourceLine> line(std::uint64_t address) const;

  // The inlined functions that the address is in, outermost first. The innermost is at line(); each
  // other one, and the function itself, is at the next one's `call`.
  [[nodiscard]] std::vector<InlinedFrame> inlined(std::uint64_t address) const;

  // What to show where find() has nothing: "app+0x1234 [3fa9c0de]", the address within the file and
  // the build id. Never "??".
  [[nodiscard]] std::string describe(std::uint64_t address) const;

  [[nodiscard]] const Binary& binary() const { return parts_.binary; }
  [[nodiscard]] const std::string& build_id() const { return parts_.build_id; }

  // Why there are no names, or fewer than there could be; empty when all is well.
  [[nodiscard]] const std::string& why() const { return parts_.why; }

  // Whether addresses are those of the running process or kernel instead of the file's.
  [[nodiscard]] bool is_absolute() const { return parts_.is_absolute; }

  [[nodiscard]] std::size_t symbol_count() const;

  // How to unwind its frames; null when the file was not found.
  [[nodiscard]] const UnwindTable* unwind_table() const;

 private:
  Parts parts_;
  mutable std::once_flag unwind_once_;
  mutable std::unique_ptr<const UnwindTable> unwind_table_;
};

}  // namespace loft::symbols
