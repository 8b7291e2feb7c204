#include "symbols/dwarf_expression.hpp"

#include <utility>
#include <vector>

namespace loft::symbols {
namespace {

constexpr std::size_t kMostValues = 64;
constexpr int kMostSteps = 10000;  // branches can go back

class Evaluation {
 public:
  Evaluation(Bytes expression, ByteOrder order, const ExpressionContext& context)
      : bytes_(expression), order_(order), in_(expression, order), context_(context) {}

  std::optional<std::uint64_t> run(std::optional<std::uint64_t> initial) {
    if (initial) stack_.push_back(*initial);
    for (int steps = 0; !in_.at_end(); ++steps) {
      if (steps == kMostSteps || stack_.size() > kMostValues || !step(in_.u8()) || !in_.ok())
        return std::nullopt;
    }
    if (stack_.empty()) return std::nullopt;
    return stack_.back();
  }

 private:
  bool push(std::uint64_t value) {
    stack_.push_back(value);
    return true;
  }

  bool push_register(std::uint64_t number, std::uint64_t offset) {
    const auto value = context_.register_value(number);
    return value && push(*value + offset);
  }

  bool load(std::size_t size) {
    if (stack_.empty()) return false;
    const auto value = context_.memory(stack_.back(), size);
    if (!value) return false;
    stack_.back() = *value;
    return true;
  }

  template <class Operation>
  bool unary(const Operation& operation) {
    if (stack_.empty()) return false;
    stack_.back() = operation(stack_.back());
    return true;
  }

  template <class Operation>
  bool binary(const Operation& operation) {
    if (stack_.size() < 2) return false;
    const std::uint64_t right = stack_.back();
    stack_.pop_back();
    stack_.back() = operation(stack_.back(), right);
    return true;
  }

  bool pick(std::size_t index) {
    return index < stack_.size() && push(stack_[stack_.size() - 1 - index]);
  }

  bool branch(bool is_taken) {
    const auto distance = static_cast<std::int16_t>(in_.u16());
    if (!is_taken) return true;
    const auto target = static_cast<std::int64_t>(in_.position()) + distance;
    if (target < 0 || target > static_cast<std::int64_t>(bytes_.size())) return false;
    in_ = ByteReader(bytes_, order_, static_cast<std::size_t>(target));
    return true;
  }

  bool branch_if() {
    if (stack_.empty()) return false;
    const bool is_taken = stack_.back() != 0;
    stack_.pop_back();
    return branch(is_taken);
  }

  bool step(std::uint8_t opcode) {
    if (opcode >= 0x30 && opcode <= 0x4f) return push(opcode - 0x30u);
    if (opcode >= 0x70 && opcode <= 0x8f)
      return push_register(opcode - 0x70u, static_cast<std::uint64_t>(in_.sleb()));
    if (opcode <= 0x11) return constant(opcode);
    return arithmetic(opcode);
  }

  bool constant(std::uint8_t opcode) {
    const auto sign_extended = [](auto value) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    };
    switch (opcode) {
      case 0x03:
        return push(in_.u64());  // addr
      case 0x06:
        return load(8);
      case 0x08:
        return push(in_.u8());
      case 0x09:
        return push(sign_extended(static_cast<std::int8_t>(in_.u8())));
      case 0x0a:
        return push(in_.u16());
      case 0x0b:
        return push(sign_extended(static_cast<std::int16_t>(in_.u16())));
      case 0x0c:
        return push(in_.u32());
      case 0x0d:
        return push(sign_extended(static_cast<std::int32_t>(in_.u32())));
      case 0x0e:
      case 0x0f:
        return push(in_.u64());
      case 0x10:
        return push(in_.uleb());
      case 0x11:
        return push(static_cast<std::uint64_t>(in_.sleb()));
      default:
        return false;
    }
  }

  bool arithmetic(std::uint8_t opcode) {
    using U = std::uint64_t;
    const auto as_signed = [](U value) { return static_cast<std::int64_t>(value); };
    switch (opcode) {
      case 0x12:
        return pick(0);
      case 0x13:
        return drop();
      case 0x14:
        return pick(1);
      case 0x15:
        return pick(in_.u8());
      case 0x16:
        return swap();
      case 0x19:
        return unary([&](U a) { return as_signed(a) < 0 ? U{0} - a : a; });
      case 0x1a:
        return binary([](U a, U b) { return a & b; });
      case 0x1c:
        return binary([](U a, U b) { return a - b; });
      case 0x1e:
        return binary([](U a, U b) { return a * b; });
      case 0x1f:
        return unary([](U a) { return U{0} - a; });
      case 0x20:
        return unary([](U a) { return ~a; });
      case 0x21:
        return binary([](U a, U b) { return a | b; });
      case 0x22:
        return binary([](U a, U b) { return a + b; });
      case 0x23: {
        const U addend = in_.uleb();
        return unary([&](U a) { return a + addend; });
      }
      case 0x24:
        return binary([](U a, U b) { return b < 64 ? a << b : 0; });
      case 0x25:
        return binary([](U a, U b) { return b < 64 ? a >> b : 0; });
      case 0x26:
        return binary([&](U a, U b) { return U(as_signed(a) >> (b < 63 ? b : 63)); });
      case 0x27:
        return binary([](U a, U b) { return a ^ b; });
      case 0x28:
        return branch_if();
      case 0x29:
        return binary([](U a, U b) { return U{a == b}; });
      case 0x2a:
        return binary([&](U a, U b) { return U{as_signed(a) >= as_signed(b)}; });
      case 0x2b:
        return binary([&](U a, U b) { return U{as_signed(a) > as_signed(b)}; });
      case 0x2c:
        return binary([&](U a, U b) { return U{as_signed(a) <= as_signed(b)}; });
      case 0x2d:
        return binary([&](U a, U b) { return U{as_signed(a) < as_signed(b)}; });
      case 0x2e:
        return binary([](U a, U b) { return U{a != b}; });
      case 0x2f:
        return branch(true);
      case 0x92: {
        const U number = in_.uleb();
        return push_register(number, static_cast<U>(in_.sleb()));
      }
      case 0x94:
        return load(in_.u8());
      case 0x96:
        return true;  // nop
      default:
        return false;
    }
  }

  bool drop() {
    if (stack_.empty()) return false;
    stack_.pop_back();
    return true;
  }

  bool swap() {
    if (stack_.size() < 2) return false;
    std::swap(stack_.back(), stack_[stack_.size() - 2]);
    return true;
  }

  Bytes bytes_;
  ByteOrder order_;
  ByteReader in_;
  const ExpressionContext& context_;
  std::vector<std::uint64_t> stack_;
};

}  // namespace

std::optional<std::uint64_t> evaluate(Bytes expression, ByteOrder order,
                                      std::optional<std::uint64_t> initial,
                                      const ExpressionContext& context) {
  return Evaluation(expression, order, context).run(initial);
}

}  // namespace loft::symbols
