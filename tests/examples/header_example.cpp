#include "examples/header_example.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace loft::examples {
namespace {

// The line without what marks it as a comment; nothing once the opening comment is over.
std::optional<std::string_view> comment_text(std::string_view line) {
  if (line.starts_with("//")) return line.substr(2);
  if (line.starts_with("/*") || line.starts_with(" *")) return line.substr(2);
  return std::nullopt;
}

std::string_view without_comment(std::string_view code) {
  return trim(code.substr(0, code.find("//")));
}

bool is_code(std::string_view line) {
  const std::string_view code = without_comment(line);
  return code.ends_with(';') || code.ends_with('{') || code.ends_with("...");
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Puts something that compiles where "..." leaves a gap.
std::string filled_in(std::string_view line) {
  std::string code(without_comment(line));
  if (code.starts_with("...")) return {};
  replace_all(code, "{ ... }", "{ }");
  replace_all(code, "{ ...; ", "{ ");
  replace_all(code, "{...}", "{}");
  replace_all(code, "= ...", "= {}");
  replace_all(code, "(...)", "(true)");
  if (code.ends_with(" ...")) code.replace(code.size() - 3, 3, "{}");
  return code;
}

// The last one: those before it hold forward declarations.
std::string scope_of(std::string_view header) {
  std::string scope;
  for (const std::string_view line : split(header, '\n')) {
    constexpr std::string_view kStart = "namespace ";
    if (line.starts_with("namespace loft") && line.ends_with(" {"))
      scope = line.substr(kStart.size(), line.size() - kStart.size() - 2);
  }
  return scope;
}

// A line that ends with neither a statement nor an open end shows a value: "chart.name   // DRAM".
void end_expressions(std::vector<Line>& lines) {
  for (Line& line : lines) {
    const bool is_control = line.code.starts_with("if ") || line.code.starts_with("for ") ||
                            line.code.starts_with("while ") || line.code.starts_with("else");
    constexpr std::string_view kOpen = ";{},(&|=<+";
    if (line.code.empty() || is_control || kOpen.find(line.code.back()) != std::string_view::npos)
      continue;
    line.code += ';';
  }
}

bool defines_a_function(const HeaderExample& example) {
  const std::string& first = example.lines.front().code;
  const bool is_statement = first.starts_with("if ") || first.starts_with("for ") ||
                            first.starts_with("while ") || first.find("[&]") != std::string::npos;
  return first.ends_with(") {") && !is_statement;
}

}  // namespace

std::optional<HeaderExample> example_of(std::string_view header) {
  HeaderExample example;
  std::vector<Line> block;
  const auto end_block = [&] {
    if (std::any_of(block.begin(), block.end(),
                    [](const Line& line) { return is_code(line.code); }))
      example.lines.insert(example.lines.end(), block.begin(), block.end());
    block.clear();
  };
  std::size_t number = 0;
  for (const std::string_view line : split(header, '\n')) {
    ++number;
    const auto text = comment_text(line);
    if (!text) break;
    if (text->starts_with("   "))
      block.push_back({number, std::string(*text)});
    else
      end_block();
  }
  end_block();
  if (example.lines.empty()) return std::nullopt;
  for (Line& line : example.lines) line.code = filled_in(line.code);
  end_expressions(example.lines);
  example.scope = scope_of(header);
  return example;
}

Context context_of(std::string_view contexts, std::string_view header) {
  Context context;
  bool is_ours = false;
  for (const std::string_view line : split(contexts, '\n')) {
    if (line.starts_with('[') && line.ends_with(']')) {
      is_ours = line.substr(1, line.size() - 2) == header;
    } else if (is_ours && line.starts_with("#include")) {
      context.includes.emplace_back(line);
    } else if (is_ours && !line.empty()) {
      context.declarations += std::string(line) + "\n";
    }
  }
  return context;
}

std::string as_source(const HeaderExample& example, std::string_view path, const Context& context,
                      std::size_t number) {
  const bool returns_nothing =
      std::any_of(example.lines.begin(), example.lines.end(),
                  [](const Line& line) { return line.code.find("return;") != std::string::npos; });
  const bool is_function = defines_a_function(example);
  const std::string name = "example_" + std::to_string(number);
  std::string out;
  if (!example.scope.empty()) out += "namespace " + example.scope + " {\n";
  out += "namespace " + name + " {\n" + context.declarations;
  if (!is_function) out += (returns_nothing ? "void " : "loft::Result<int> ") + name + "() {\n";
  std::size_t expected = 0;  // a directive must not stand inside the arguments of a macro
  for (const Line& line : example.lines) {
    if (line.number != expected)
      out += "#line " + std::to_string(line.number) + " \"" + std::string(path) + "\"\n";
    out += line.code + "\n";
    expected = line.number + 1;
  }
  if (!is_function) out += returns_nothing ? "}\n" : "return 0;\n}\n";
  out += "}\n";
  if (!example.scope.empty()) out += "}\n";
  return out;
}

}  // namespace loft::examples
