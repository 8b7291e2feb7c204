// The paper's events as XML. The paper names the form without printing it; this is ours:
//
//   <user_events>
//     <define name="BR_lat" value="5"/>
//     <event name="Branch_cat" unit="cycle/instr"
//     description="...">PAPI_BR_INS|BR_lat|*|...</event>
//   </user_events>
//
// A document type is refused: entities that expand to more entities need one.
#include <expat.h>
#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/text.hpp"
#include "base/xml_text.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 20;  // of one formula

class XmlReader {
 public:
  explicit XmlReader(const std::string& name) { file_.name = name; }

  MetricFile read(std::string_view text) {
    const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                         XML_ParserFree);
    parser_ = parser.get();
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(
        parser_,
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<XmlReader*>(self)->begin(name, attributes);
        },
        [](void* self, const XML_Char*) { static_cast<XmlReader*>(self)->end(); });
    XML_SetCharacterDataHandler(parser_, [](void* self, const XML_Char* part, int length) {
      static_cast<XmlReader*>(self)->characters({part, static_cast<std::size_t>(length)});
    });
    XML_SetStartDoctypeDeclHandler(
        parser_, [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<XmlReader*>(self)->stop("a document type is not accepted here");
        });
    const auto length = static_cast<int>(std::min<std::size_t>(text.size(), INT32_MAX));
    if (XML_Parse(parser_, text.data(), length, XML_TRUE) != XML_STATUS_OK && !stopped_)
      complain(fmt::format("this is not well-formed XML: {}",
                           XML_ErrorString(XML_GetErrorCode(parser_))));
    return std::move(file_);
  }

 private:
  using Attributes = std::map<std::string, std::string, std::less<>>;

  [[nodiscard]] unsigned line() const {
    return static_cast<unsigned>(XML_GetCurrentLineNumber(parser_));
  }

  void complain(std::string text) {
    const auto column = static_cast<unsigned>(XML_GetCurrentColumnNumber(parser_)) + 1;
    file_.complain(line(), column, std::move(text));
  }

  void stop(std::string why) {
    if (!stopped_) complain(std::move(why));
    stopped_ = true;
    XML_StopParser(parser_, XML_FALSE);
  }

  void begin(std::string_view kind, const XML_Char** attributes) {
    ++depth_;
    Attributes given;
    for (; attributes[0] != nullptr; attributes += 2) given[attributes[0]] = trim(attributes[1]);
    if (depth_ == 1) {
      if (kind != "user_events") stop("the element <user_events> was expected");
    } else if (depth_ > 2) {
      stop(fmt::format("<{}> is not expected inside <{}>", kind, kind_));
    } else {
      kind_ = std::string(kind);
      attributes_ = std::move(given);
      text_.clear();
      line_ = line();
      element();
    }
  }

  void characters(std::string_view part) {
    if (depth_ != 2) return;
    if (text_.size() + part.size() > kLongestText) return stop("a formula is too long");
    text_ += part;
  }

  void end() {
    if (depth_ == 2 && kind_ == "event" && !name_.empty()) event();
    --depth_;
  }

  void element() {
    name_ = attributes_["name"];
    if (kind_ != "define" && kind_ != "event") {
      complain(fmt::format("<{}> is not known; <define> or <event> was expected", kind_));
    } else if (name_.empty() || name_.find_first_of("|, \t\r\n") != std::string::npos) {
      complain(fmt::format("<{}> needs a name without blanks, bars and commas", kind_));
      name_.clear();
    } else if (kind_ == "define") {
      constant();
    }
  }

  void constant() {
    const auto number = parse_number(attributes_["value"]);
    if (!number)
      return complain(
          fmt::format("the value '{}' of {} is not a number", attributes_["value"], name_));
    file_.define(Constant{name_, *number, std::nullopt, to_string(Place{file_.name, line_, 0})},
                 line_);
  }

  void event() {
    auto formula = parse_rpn(trim(text_));
    if (!formula) return complain(fmt::format("{}: {}", name_, formula.error().why));
    Definition definition;
    definition.name = name_;
    definition.formula = *std::move(formula);
    definition.description = attributes_["description"];
    definition.place = {file_.name, line_, 0};
    if (!attributes_["unit"].empty()) {
      const auto unit = parse_unit(attributes_["unit"]);
      if (!unit) return complain(fmt::format("{}: {}", name_, unit.error().why));
      definition.unit = *unit;
    }
    file_.define(std::move(definition));
  }

  MetricFile file_;
  XML_Parser parser_ = nullptr;
  bool stopped_ = false;
  int depth_ = 0;
  std::string kind_;  // of the element that is open
  std::string name_;  // its name; empty when it cannot be used
  Attributes attributes_;
  std::string text_;
  unsigned line_ = 0;
};

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? std::string() : fmt::format(" {}=\"{}\"", name, xml_text(value));
}

}  // namespace

MetricFile read_papi_xml(const std::string& file_name, std::string_view text) {
  return XmlReader(file_name).read(text);
}

std::string write_papi_xml(const MetricFile& file) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<user_events>\n";
  for (const Constant& constant : file.constants)
    out += fmt::format("  <define{}{}/>\n", attribute("name", constant.name),
                       attribute("value", to_string(constant.value)));
  for (const Definition& definition : file.definitions)
    out += fmt::format("  <event{}{}{}>{}</event>\n", attribute("name", definition.name),
                       attribute("unit", definition.unit ? definition.unit->text : ""),
                       attribute("description", definition.description),
                       xml_text(to_rpn(definition.formula)));
  return out + "</user_events>\n";
}

}  // namespace loft::metric
