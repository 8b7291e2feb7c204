// Formats of tracepoints as the kernel describes them, and values of their fields.
#include "format/perf/tracing_data.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "format/byte_builder.hpp"

namespace loft::format::perf {
namespace {

constexpr std::string_view kMagic("\x17\x08\x44tracing", 10);
constexpr std::string_view kSwitch =
    "name: sched_switch\n"
    "ID: 315\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
    "\n"
    "print fmt: \"prev_comm=%s prev_pid=%d\", REC->prev_comm, REC->prev_pid\n";

struct Described {
  std::string system;
  std::string format;
};

ByteBuilder tracing_data(const std::vector<Described>& events, ByteOrder order,
                         std::string_view kallsyms = "") {
  ByteBuilder out(order);
  out.text(kMagic).text("0.6").u8(0).u8(order == ByteOrder::big ? 1 : 0).u8(8).u32(4096);
  for (const char* name : {"header_page", "header_event"}) out.text(name).u8(0).u64(3).text("abc");
  out.u32(0);  // no formats of ftrace's own
  out.u32(static_cast<std::uint32_t>(events.size()));
  for (const auto& [system, format] : events)
    out.text(system).u8(0).u32(1).u64(format.size()).text(format);
  out.u32(static_cast<std::uint32_t>(kallsyms.size())).text(kallsyms);
  return out;
}

const TracepointField* field_of(const TracepointFormat& format, std::string_view name) {
  for (const auto& field : format.fields)
    if (field.name == name) return &field;
  return nullptr;
}

class TracingDataInBothOrders : public testing::TestWithParam<ByteOrder> {};
INSTANTIATE_TEST_SUITE_P(BothOrders, TracingDataInBothOrders,
                         testing::Values(ByteOrder::little, ByteOrder::big));

TEST_P(TracingDataInBothOrders, AFormatHasItsFieldsWithPlacesAndKinds) {
  const auto bytes = tracing_data({{"sched", std::string(kSwitch)}}, GetParam(), "1 T start\n");
  const TracingData data = read_tracing_data(bytes.view());
  EXPECT_EQ(data.note, "");
  EXPECT_EQ(data.kallsyms, "1 T start\n");
  const TracepointFormat* format = data.find(315);
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->system, "sched");
  EXPECT_EQ(format->name, "sched_switch");
  const auto* comm = field_of(*format, "prev_comm");
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(comm->offset, 8u);
  EXPECT_EQ(comm->size, 16u);
  EXPECT_TRUE(comm->is_text && comm->is_array && !comm->is_dynamic);
  const auto* pid = field_of(*format, "prev_pid");
  ASSERT_NE(pid, nullptr);
  EXPECT_TRUE(pid->is_signed && !pid->is_text && !pid->is_array);
  const auto* name = field_of(*format, "name");
  ASSERT_NE(name, nullptr);
  EXPECT_TRUE(name->is_dynamic && name->is_text && !name->is_relative);
  EXPECT_EQ(data.find(316), nullptr);
}

TEST_P(TracingDataInBothOrders, CutAnywhereItSaysSo) {
  const auto bytes = tracing_data({{"sched", std::string(kSwitch)}}, GetParam(), "1 T start\n");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(read_tracing_data(bytes.view().first(size)).note, "the tracing data is damaged")
        << size << " bytes of " << bytes.size();
}

// One format that is not as kernels write them does not hide the others.
TEST(TracingData, LeavesOutAFormatThatIsNotSound) {
  for (const char* bad : {
           "name: bad\nID: 7\nformat:\n\tfield:int a[;\toffset:8;\tsize:4;\tsigned:1;\n",
           "name: bad\nID: 7\nformat:\n\tfield:int a;\toffset:-8;\tsize:4;\tsigned:1;\n",
           "name: bad\nID: 7\nformat:\n\tfield:int a;\toffset:8;\tsize:9999999999;\tsigned:1;\n",
           "name: bad\nID: 7\nformat:\n\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n",
           "name: bad\nID: 7x\nformat:\n",
           "name: b\"ad\nID: 7\nformat:\n",
           "surprise\nname: bad\nID: 7\nformat:\n",
       }) {
    const auto bytes =
        tracing_data({{"bad", bad}, {"sched", std::string(kSwitch)}}, ByteOrder::little);
    const TracingData data = read_tracing_data(bytes.view());
    EXPECT_EQ(data.find(7), nullptr) << bad;
    EXPECT_NE(data.find(315), nullptr) << "the one behind\n" << bad;
  }
}

TEST(TracingData, RefusesCountsThatTheBytesCannotHold) {
  ByteBuilder out(ByteOrder::little);
  out.text(kMagic).text("0.6").u8(0).u8(0).u8(8).u32(4096);
  for (const char* name : {"header_page", "header_event"}) out.text(name).u8(0).u64(0);
  out.u32(0xFFFFFFFF).u64(0).u64(0);
  EXPECT_EQ(read_tracing_data(out.view()).note, "the tracing data is damaged");
}

// "u 7", "s -7", "text ab", "bytes 3", or nothing.
std::string shown(const FieldValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return fmt::format("u {}", *number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("s {}", *number);
  if (const auto* text = std::get_if<std::string_view>(&value))
    return fmt::format("text {}", *text);
  if (const auto* bytes = std::get_if<std::span<const std::byte>>(&value))
    return fmt::format("bytes {}", bytes->size());
  return {};
}

struct ValueCase {
  TracepointField field;
  std::string value;
};

void expect_values(const ByteBuilder& raw, const std::vector<ValueCase>& cases) {
  for (const auto& [field, value] : cases)
    EXPECT_EQ(shown(value_of(field, raw.view(), raw.order())), value)
        << field.name << " at " << field.offset;
}

TracepointField number_at(std::uint32_t offset, std::uint32_t size, bool is_signed = false) {
  return {.name = "number", .offset = offset, .size = size, .is_signed = is_signed};
}
TracepointField text_at(std::uint32_t offset, std::uint32_t size) {
  return {.name = "text", .offset = offset, .size = size, .is_text = true};
}
TracepointField dynamic_at(std::uint32_t offset, bool is_relative = false) {
  return {.name = "dynamic",
          .offset = offset,
          .size = 4,
          .is_text = true,
          .is_dynamic = true,
          .is_relative = is_relative};
}

TEST(FieldValue, NumbersHaveTheirWidthAndSign) {
  expect_values(ByteBuilder(ByteOrder::big).u8(0x80).u8(0).u16(0x8001).u32(0x80000002),
                {{number_at(0, 1), "u 128"},
                 {number_at(0, 1, true), "s -128"},
                 {number_at(2, 2), "u 32769"},
                 {number_at(2, 2, true), "s -32767"},
                 {number_at(4, 4), "u 2147483650"},
                 {number_at(4, 4, true), "s -2147483646"},
                 {number_at(0, 8), "u 9223512780785582082"},
                 {number_at(0, 3), "bytes 3"}});
}

TEST(FieldValue, ATextEndsAtItsFirstZeroOrWithItsField) {
  expect_values(ByteBuilder().text(std::string_view("ab\0dfull", 8)),
                {{text_at(0, 4), "text ab"}, {text_at(4, 4), "text full"}});
}

// The field holds size and place of the text: from the start, or from behind the field.
TEST(FieldValue, ADynamicFieldPointsToItsText) {
  expect_values(ByteBuilder().u32(0).u32(3u << 16 | 8).text("ok!"), {{dynamic_at(4), "text ok!"}});
  expect_values(ByteBuilder().u32(0).u32(2u << 16 | 1).text("xok"),
                {{dynamic_at(4, true), "text ok"}});
}

TEST(FieldValue, IsNothingWhereTheRawDataEndsFirst) {
  expect_values(ByteBuilder().u32(5u << 16 | 4).u32(0),
                {{number_at(5, 4), ""},
                 {number_at(0xFFFFFFFF, 8), ""},
                 {dynamic_at(0), ""},    // five bytes at 4 of 8
                 {dynamic_at(6), ""}});  // not even the place is there
}

}  // namespace
}  // namespace loft::format::perf
