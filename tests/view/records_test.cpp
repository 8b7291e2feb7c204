// One record, field by field, in each of the forms that records are written in.
#include "view/records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace loft::view {
namespace {

struct Case {
  const char* name;
  std::function<void(sample::FieldSink&)> fields;
  std::string lines;  // behind the head, up to the end of the line
  std::string json;   // behind the offset and type
};

constexpr sample::RecordHead kHead{.number = 1, .offset = 2, .type = "SAMPLE"};

const std::vector<Case>& cases() {
  static const Case all[] = {
      {"numbers",
       [](auto& sink) {
         sink.number("most", std::numeric_limits<std::uint64_t>::max());
         sink.signed_number("least", std::numeric_limits<std::int64_t>::min());
       },
       " most=18446744073709551615 least=-9223372036854775808",
       R"(,"most":18446744073709551615,"least":-9223372036854775808)"},
      {"reals that JSON cannot write",
       [](auto& sink) {
         sink.real("half", 0.5);
         sink.real("inf", std::numeric_limits<double>::infinity());
       },
       " half=0.5 inf=inf", R"(,"half":0.5,"inf":null)"},
      {"addresses of all 64 bits",
       [](auto& sink) {
         sink.address("ip", 0xFFFFFFFF81000000);
         sink.address("zero", 0);
       },
       " ip=0xffffffff81000000 zero=0x0", R"(,"ip":"0xffffffff81000000","zero":"0x0")"},
      {"flags and texts",
       [](auto& sink) {
         sink.flag("exec");
         sink.text("path", "/bin/\x1b<a>\"");
       },
       " exec path=/bin/\\x1b<a>\"", R"(,"exec":true,"path":"/bin/\\x1b\u003ca>\"")"},
      {"groups within lists within groups",
       [](auto& sink) {
         sink.begin_group("read");
         sink.begin_list("values");
         for (const std::uint64_t value : {1u, 2u}) {
           sink.begin_group("");
           sink.number("value", value);
           sink.end_group();
         }
         sink.end_list();
         sink.number("id", 3);
         sink.end_group();
         sink.begin_list("none");
         sink.end_list();
         sink.flag("last");
       },
       " read={values=[{value=1} {value=2}] id=3} none=[] last",
       R"(,"read":{"values":[{"value":1},{"value":2}],"id":3},"none":[],"last":true)"},
      {"frames of the call chain and of branches",
       [](auto& sink) {
         sink.begin_list("call_chain");
         sink.frame({0x10, "inner", "/a"});
         sink.frame({0x20, "outer", "/b"});
         sink.end_list();
         sink.begin_list("branches");
         sink.frame({0x30, "from", "/a"});
         sink.end_list();
       },
       "\n    0x10 inner (/a)\n    0x20 outer (/b) branches=[0x30 from (/a)]",
       R"(,"call_chain":[{"address":"0x10","function":"inner","binary":"/a"},)"
       R"({"address":"0x20","function":"outer","binary":"/b"}],)"
       R"("branches":[{"address":"0x30","function":"from","binary":"/a"}])"},
      {"where a sample was taken",
       [](auto& sink) {
         sink.instruction({0x40, "main", "/a"});
       },
       " ip=0x40 function=main binary=/a", R"(,"ip":"0x40","function":"main","binary":"/a")"},
  };
  static const std::vector<Case> list(std::begin(all), std::end(all));
  return list;
}

template <class Writer>
std::string written(const sample::RecordHead& head,
                    const std::function<void(sample::FieldSink&)>& fields) {
  Writer writer;
  writer.begin(head);
  fields(writer);
  writer.end();
  return std::string(writer.written());
}

TEST(RecordForms, FieldsAreWrittenAsTheyAre) {
  for (const Case& one : cases()) {
    EXPECT_EQ(written<RecordLines>(kHead, one.fields), "#1 SAMPLE" + one.lines + "\n") << one.name;
    EXPECT_EQ(written<RecordJson>(kHead, one.fields),
              R"({"nr":1,"offset":2,"type":"SAMPLE")" + one.json + "}\n")
        << one.name;
  }
}

TEST(RecordForms, AHeadHasWhatIsKnownAlone) {
  const auto nothing = [](sample::FieldSink&) {};
  const sample::RecordHead unnamed{.number = 7, .offset = 8, .type_number = 99};
  EXPECT_EQ(written<RecordLines>(unnamed, nothing), "#7 type 99\n");
  EXPECT_EQ(written<RecordJson>(unnamed, nothing),
            "{\"nr\":7,\"offset\":8,\"type\":\"type 99\"}\n");
  EXPECT_EQ(written<RecordTable>(unnamed, nothing), "7,type 99,,,,\n");
  // The kernel's own tasks are -1, and a time below one second has nine digits.
  const sample::RecordHead whole{.number = 7,
                                 .offset = 8,
                                 .type = "SWITCH",
                                 .time = 5,
                                 .pid = 0xFFFFFFFF,
                                 .tid = 0,
                                 .cpu = 3,
                                 .comm = "a\nb",
                                 .event = "cycles"};
  EXPECT_EQ(written<RecordLines>(whole, nothing),
            "#7 0.000000005 SWITCH cycles a\\x0ab -1/0 cpu 3\n");
  EXPECT_EQ(written<RecordJson>(whole, nothing),
            "{\"nr\":7,\"offset\":8,\"type\":\"SWITCH\",\"time\":5,\"pid\":-1,\"tid\":0,\"cpu\":3,"
            "\"comm\":\"a\\\\x0ab\",\"event\":\"cycles\"}\n");
  EXPECT_EQ(written<RecordTable>(whole, nothing), "7,SWITCH,-1,0,5,\n");
}

// Texts of eight bytes and more are looked at a word at a time: each byte at each place must be
// seen.
TEST(RecordLines, NoByteThatIsNotPrintableGetsThrough) {
  for (std::size_t place = 0; place < 20; ++place)
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string text(20, 'a');
      text[place] = static_cast<char>(byte);
      const bool is_plain = byte >= 0x20 && byte < 0x7F;
      const auto line =
          written<RecordLines>(kHead, [&](sample::FieldSink& sink) { sink.text("t", text); });
      EXPECT_EQ(line == "#1 SAMPLE t=" + text + "\n", is_plain) << byte << " at " << place;
    }
}

TEST(RecordForms, ALongBlobIsCutForPeopleAndWholeForPrograms) {
  const std::vector<std::byte> blob(65, std::byte{0xAB});
  const auto of = [&](std::size_t size) {
    return
        [&blob, size](sample::FieldSink& sink) { sink.bytes("raw", std::span(blob).first(size)); };
  };
  std::string shown, hex;
  for (int i = 0; i < 64; ++i) shown += " ab";
  for (int i = 0; i < 65; ++i) hex += "ab";
  EXPECT_EQ(written<RecordLines>(kHead, of(0)), "#1 SAMPLE raw=<0 bytes>\n");
  EXPECT_EQ(written<RecordLines>(kHead, of(64)), "#1 SAMPLE raw=<64 bytes:" + shown + ">\n");
  EXPECT_EQ(written<RecordLines>(kHead, of(65)), "#1 SAMPLE raw=<65 bytes:" + shown + " ...>\n");
  EXPECT_EQ(written<RecordJson>(kHead, of(65)),
            R"({"nr":1,"offset":2,"type":"SAMPLE","raw":")" + hex + "\"}\n");
}

// Frames that always go together are described once, then copied by their number.
template <class Writer>
void expect_frames_to_be_kept() {
  Writer writer;
  const auto record = [&](std::uint64_t number, std::uint64_t own, bool is_known) {
    writer.begin({.number = number, .type = "SAMPLE"});
    writer.begin_list("call_chain");
    writer.frame({own, "leaf", "/a"});
    EXPECT_EQ(writer.known_frames(5), is_known) << number;
    if (!is_known) {
      writer.frame({0x20, "middle", "/a"});
      writer.frame({0x30, "main", "/a"});
    }
    writer.end_list();
    writer.end();
    const std::string text(writer.written());
    TextBuffer other;
    writer.exchange(other);  // as the describer does with each piece
    return text;
  };
  std::string first = record(1, 0x11, false);
  std::string second = record(2, 0x12, true);
  const auto at = first.find("0x11");
  ASSERT_NE(at, std::string::npos);
  first.replace(at, 4, "0x12");
  first.replace(first.find('1'), 1, "2");
  EXPECT_EQ(first, second);
}

TEST(RecordForms, FramesThatWereWrittenBeforeAreCopied) {
  expect_frames_to_be_kept<RecordLines>();
  expect_frames_to_be_kept<RecordJson>();
}

// The same place has the same names; a place without a number is never taken for another.
TEST(RecordForms, NamesAreLookedUpByTheirPlace) {
  const auto text = written<RecordLines>(kHead, [](sample::FieldSink& sink) {
    sink.begin_list("call_chain");
    sink.frame({0x1, "one", "/a", 700});
    sink.frame({0x2, "ignored", "/a", 700});
    sink.frame({0x3, "two", "/a"});
    sink.frame({0x4, "three", "/a"});
    sink.end_list();
  });
  EXPECT_EQ(
      text,
      "#1 SAMPLE\n    0x1 one (/a)\n    0x2 one (/a)\n    0x3 two (/a)\n    0x4 three (/a)\n");
}

TEST(RecordTable, InfoHasWhatItsAuthorsPutThere) {
  const auto info = [](std::string_view type) {
    const auto line = written<RecordTable>({.type = type}, [](sample::FieldSink& sink) {
      sink.text("path", "/a,b");
      sink.address("start", 16);
      sink.text("name", "app");
      sink.number("parent_pid", 1);
      sink.instruction({0x10, "main", "/a"});
      sink.number("period", 2);
      sink.begin_group("inner");
      sink.number("period", 3);
      sink.end_group();
      sink.flag("odd");
      sink.real("part", 0.5);
    });
    return line.substr(std::min(line.size(), 2 + type.size() + 4));  // behind "0,TYPE,,,,"
  };
  EXPECT_EQ(info("MMAP"), "\"path=/a,b start=0x10\"\n");
  EXPECT_EQ(info("COMM"), "name=app\n");
  EXPECT_EQ(info("FORK"), "parent_pid=1\n");
  EXPECT_EQ(info("EXIT"), "\n");
  EXPECT_EQ(info("SAMPLE"), "ip=0x10 period=2\n");
  EXPECT_EQ(info("LOST"),
            "\"path=/a,b start=0x10 name=app parent_pid=1 ip=0x10 function=main binary=/a period=2 "
            "odd=1 part=0.5\"\n");
}

}  // namespace
}  // namespace loft::view
