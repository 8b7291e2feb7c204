#include "core/window.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <string>

namespace loft::core {
namespace {

constexpr std::string_view kMagic = "loftwin3";
constexpr std::size_t kHeaderBytes = 8 + 4 * 4;
constexpr std::size_t kBlockBytes = 8;
constexpr std::size_t kInstructionBytes = 8 + 4 + 6 + 2 + 3 * 8;
constexpr std::size_t kExecutionBytes = 4 + 4 + 2 + 7;
constexpr std::size_t kAccessBytes = 8 + 4 + 2 + 8 + 3;

Failure malformed(std::string why) {
  return failure(ErrorKind::malformed, "read a window", std::move(why));
}

class Writer {
 public:
  template <class T>
  void put(T value) {
    std::uint64_t bits = 0;
    if constexpr (std::is_enum_v<T>)
      bits = static_cast<std::uint64_t>(value);
    else
      bits = value;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>(bits >> (8 * i) & 0xff));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads what the caller knows to be there.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bits |= std::to_integer<std::uint64_t>(bytes_[at_ + i]) << (8 * i);
    at_ += sizeof(T);
    return static_cast<T>(bits);
  }
  // A byte that must be 0 or 1, or below the number of values of an enumeration.
  template <class E>
  E get_below(std::uint8_t end) {
    const auto value = get<std::uint8_t>();
    is_good_ &= value < end;
    return static_cast<E>(value < end ? value : 0);
  }
  bool get_bool() { return get_below<std::uint8_t>(2) != 0; }
  [[nodiscard]] bool is_good() const { return is_good_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool is_good_ = true;
};

constexpr std::uint8_t kLevels = 4;
constexpr std::uint8_t kTranslations = 3;

void put(Writer& out, const Instruction& i) {
  out.put(i.address);
  out.put(i.block);
  out.put(i.length);
  out.put(i.op);
  out.put(i.branch);
  out.put(i.uops);
  out.put(i.is_atomic);
  out.put(i.is_fence);
  out.put(i.vector_bits);
  out.put(i.address_registers);
  out.put(i.sources);
  out.put(i.destinations);
}

Instruction get_instruction(Reader& in) {
  Instruction i;
  i.address = in.get<std::uint64_t>();
  i.block = in.get<std::uint32_t>();
  i.length = in.get<std::uint8_t>();
  i.op = in.get_below<Op>(static_cast<std::uint8_t>(Op::count_));
  i.branch = in.get_below<BranchKind>(static_cast<std::uint8_t>(BranchKind::count_));
  i.uops = in.get<std::uint8_t>();
  i.is_atomic = in.get_bool();
  i.is_fence = in.get_bool();
  i.vector_bits = in.get<std::uint16_t>();
  i.address_registers = in.get<Registers>();
  i.sources = in.get<Registers>();
  i.destinations = in.get<Registers>();
  return i;
}

void put(Writer& out, const Execution& e) {
  out.put(e.instruction);
  out.put(e.first_access);
  out.put(e.accesses);
  out.put(e.is_taken);
  out.put(e.is_mispredicted);
  out.put(e.is_mispredicted_anew);
  out.put(e.fetched_from);
  out.put(e.fetched_nearest);
  out.put(e.code);
  out.put(e.code_nearest);
}

Execution get_execution(Reader& in) {
  Execution e;
  e.instruction = in.get<std::uint32_t>();
  e.first_access = in.get<std::uint32_t>();
  e.accesses = in.get<std::uint16_t>();
  e.is_taken = in.get_bool();
  e.is_mispredicted = in.get_bool();
  e.is_mispredicted_anew = in.get_bool();
  e.fetched_from = in.get_below<Level>(kLevels);
  e.fetched_nearest = in.get_below<Level>(kLevels);
  e.code = in.get_below<Translation>(kTranslations);
  e.code_nearest = in.get_below<Translation>(kTranslations);
  return e;
}

void put(Writer& out, const WindowAccess& a) {
  out.put(a.address);
  out.put(a.size);
  out.put(a.is_store);
  out.put(a.is_past);
  out.put(a.cache.level);
  out.put(a.cache.nearest);
  out.put(a.cache.farthest);
  out.put(a.cache.prefetched_from);
  out.put(a.cache.is_late);
  out.put(a.cache.is_transfer);
  out.put(a.cache.lines);
  out.put(a.cache.written_back);
  out.put(a.translation.served);
  out.put(a.translation.nearest);
  out.put(a.translation.walked_from);
}

WindowAccess get_access(Reader& in) {
  WindowAccess a;
  a.address = in.get<std::uint64_t>();
  a.size = in.get<std::uint32_t>();
  a.is_store = in.get_bool();
  a.is_past = in.get_bool();
  a.cache.level = in.get_below<Level>(kLevels);
  a.cache.nearest = in.get_below<Level>(kLevels);
  a.cache.farthest = in.get_below<Level>(kLevels);
  a.cache.prefetched_from = in.get_below<Level>(kLevels);
  a.cache.is_late = in.get_bool();
  a.cache.is_transfer = in.get_bool();
  a.cache.lines = in.get<std::uint8_t>();
  a.cache.written_back = in.get<std::uint8_t>();
  a.translation.served = in.get_below<Translation>(kTranslations);
  a.translation.nearest = in.get_below<Translation>(kTranslations);
  a.translation.walked_from = in.get_below<Level>(kLevels);
  return a;
}

}  // namespace

bool is_nop(const Instruction& instruction) {
  return instruction.op == Op::none && instruction.branch == BranchKind::none &&
         !instruction.is_fence && instruction.sources == 0 && instruction.destinations == 0;
}

Result<void> check(const Window& window) {
  if (window.executions.size() > Window::kMostExecutions ||
      window.instructions.size() > Window::kMostExecutions ||
      window.accesses.size() > 4 * Window::kMostExecutions ||
      window.blocks.size() > Window::kMostExecutions)
    return malformed("more than can be in a window");
  for (const Instruction& instruction : window.instructions) {
    if (instruction.block >= window.blocks.size()) return malformed("an instruction of no block");
    const Registers all =
        instruction.address_registers | instruction.sources | instruction.destinations;
    if (all >> kRegisters != 0) return malformed("a register that does not exist");
  }
  for (const Execution& execution : window.executions) {
    if (execution.instruction >= window.instructions.size())
      return malformed("an execution of no instruction");
    if (execution.first_access > window.accesses.size() ||
        execution.accesses > window.accesses.size() - execution.first_access)
      return malformed("accesses beyond the last one");
  }
  return {};
}

std::vector<std::byte> serialize(const Window& window) {
  Writer out;
  for (const char letter : kMagic) out.put(static_cast<std::uint8_t>(letter));
  out.put(static_cast<std::uint32_t>(window.blocks.size()));
  out.put(static_cast<std::uint32_t>(window.instructions.size()));
  out.put(static_cast<std::uint32_t>(window.executions.size()));
  out.put(static_cast<std::uint32_t>(window.accesses.size()));
  for (const std::uint64_t block : window.blocks) out.put(block);
  for (const Instruction& instruction : window.instructions) put(out, instruction);
  for (const Execution& execution : window.executions) put(out, execution);
  for (const WindowAccess& access : window.accesses) put(out, access);
  return out.take();
}

Result<Window> parse_window(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) return malformed("it ends within its header");
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return malformed("it does not begin with loftwin3");
  Reader in(bytes);
  in.get<std::uint64_t>();
  Window window;
  const std::size_t blocks = in.get<std::uint32_t>();
  const std::size_t instructions = in.get<std::uint32_t>();
  const std::size_t executions = in.get<std::uint32_t>();
  const std::size_t accesses = in.get<std::uint32_t>();
  // Sums of products of 32 bits and small sizes: no overflow.
  const std::size_t needed = kHeaderBytes + blocks * kBlockBytes +
                             instructions * kInstructionBytes + executions * kExecutionBytes +
                             accesses * kAccessBytes;
  if (bytes.size() != needed)
    return malformed(fmt::format("{} bytes where its header says {}", bytes.size(), needed));
  window.blocks.assign(blocks, 0);
  window.instructions.reserve(instructions);
  window.executions.reserve(executions);
  window.accesses.reserve(accesses);
  for (std::uint64_t& block : window.blocks) block = in.get<std::uint64_t>();
  for (std::size_t i = 0; i < instructions; ++i) window.instructions.push_back(get_instruction(in));
  for (std::size_t i = 0; i < executions; ++i) window.executions.push_back(get_execution(in));
  for (std::size_t i = 0; i < accesses; ++i) window.accesses.push_back(get_access(in));
  if (!in.is_good()) return malformed("a value that has no meaning");
  LOFT_CHECK(check(window));
  return window;
}

std::string_view to_string(Op op) {
  constexpr std::array<std::string_view, kOps> kNames = {
      "none",          "int_alu",       "int_shift",      "int_bits",       "int_mul",
      "int_div",       "branch",        "fp_add",         "fp_mul",         "fp_fma",
      "fp_div_single", "fp_div_double", "fp_sqrt_single", "fp_sqrt_double", "fp_compare",
      "fp_convert",    "vector_logic",  "vector_shuffle", "vector_int",     "vector_int_mul",
      "vector_shift",  "vector_to_int", "int_to_vector",  "crypto",         "x87",
      "x87_slow",      "microcode",     "system"};
  return kNames[static_cast<std::size_t>(op)];
}

}  // namespace loft::core
