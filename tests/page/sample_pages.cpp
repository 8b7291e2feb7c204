// Writes pages whose every number is known, for the tests that open them in a browser.
//   loft_page_samples FOLDER [NAME...]
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "base/file.hpp"
#include "view/page.hpp"

namespace loft::view {
namespace {

using sample::Origin;

model::Roofline roofs(int threads) {
  const double n = threads;
  model::Roofline roofline;
  roofline.machine = "AMD EPYC 7B13";
  roofline.precision = "dp";
  roofline.threads = threads;
  roofline.slopes = {{"L1", "L1 bandwidth", n * 190e9, model::Verdict::stable},
                     {"L2", "L2 bandwidth", n * 92e9, model::Verdict::stable},
                     {"L3", "L3 bandwidth", n * 48e9, model::Verdict::noisy},
                     {"DRAM", "DRAM bandwidth", 21e9, model::Verdict::stable}};
  roofline.ceilings = {{"avx2", "fma", "FMA, 256 bit", n * 51.2e9, model::Verdict::stable},
                       {"avx2", "add", "add, 256 bit", n * 25.8e9, model::Verdict::stable},
                       {"sse", "add", "add, 128 bit", n * 12.9e9, model::Verdict::noisy},
                       {"scalar", "add", "add, scalar", n * 6.4e9, model::Verdict::stable}};
  return roofline;
}

struct Kernel {
  const char* name;
  double intensity, flops, share;
  const char* bound_by;
  double of_roof;
};

const std::vector<Kernel> kKernels = {
    {"make_fock_matrix", 0.09, 4.1e9, 0.61, "DRAM bandwidth", 0.88},
    {"add_constraint", 1.90, 31.0e9, 0.24, "FMA, 256 bit", 0.60},
    {"dgemm_kernel<double, 4, 12>", 6.4, 88.0e9, 0.08, "FMA, 256 bit", 0.86},
    {"reduce", 0.125, 9.2e9, 0.04, "L3 bandwidth", 0.77},
    {"std::vector<double, std::allocator<double> >::operator[](unsigned long) const", 0.03, 0.9e9,
     0.02, "DRAM bandwidth", 0.95},
    {"write_results", 0.004, 0.02e9, 0.01, "DRAM bandwidth", 0.24}};

model::RoofPoint point_of(model::Scope scope, const std::string& name, double intensity,
                          double flops_per_second) {
  model::RoofPoint point;
  point.subject.scope = scope;
  point.subject.name = name;
  point.intensity = intensity;
  point.ops_per_second = flops_per_second;
  return point;
}

void set_time(model::RoofPoint& point, double share, double seconds) {
  point.subject.share_of_time = share;
  point.subject.seconds = share * seconds;
}

void set_limit(model::RoofPoint& point, const std::string& name, double share) {
  point.limit.emplace();
  point.limit->name = name;
  point.limit->share = share;
}

void add_slices(PagePoints& points, std::size_t slices, double seconds) {
  std::mt19937 random(7);
  std::normal_distribution<double> spread(0, 0.09);
  points.reserve(points.size() + slices);
  for (std::size_t i = 0; i < slices; ++i) {
    const Kernel& kernel = kKernels[(i * 16 / slices + i % 2) % 4];
    const double intensity = kernel.intensity * std::pow(10, spread(random));
    model::RoofPoint point = point_of(model::Scope::slice, kernel.name, intensity,
                                      kernel.flops / 2 * std::pow(10, 2 * spread(random)));
    point.subject.tid = i % 2 == 0 ? 4242 : 4243;
    point.subject.start = seconds * static_cast<double>(i) / static_cast<double>(slices);
    point.subject.end = point.subject.start + seconds / static_cast<double>(slices);
    set_limit(point, kernel.bound_by, kernel.of_roof);
    points.add(point);
  }
}

void add_kernels(PageData& page, double factor, std::uint32_t run) {
  const double seconds = 6.42 / factor;
  model::RoofPoint whole = point_of(model::Scope::run, "", 0.21, factor * 11.8e9);
  set_time(whole, 1, seconds);
  set_limit(whole, "L2 bandwidth", 0.54 * factor);
  page.points.add(whole, run);
  for (const Kernel& kernel : kKernels) {
    model::RoofPoint point =
        point_of(model::Scope::function, kernel.name, kernel.intensity, factor * kernel.flops);
    set_time(point, kernel.share, seconds);
    set_limit(point, kernel.bound_by, kernel.of_roof * factor);
    point.subject.origin = kernel.share > 0.01 ? Origin::counted : Origin::modelled;
    page.points.add(point, run);
  }
}

PageTimeLine line_of(const char* name, const char* unit, double height, double seconds,
                     std::size_t steps, std::uint32_t run = 0) {
  PageTimeLine line{.name = name, .unit = unit, .run = run};
  for (std::size_t i = 0; i < steps; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(steps);
    line.start_s.push_back(seconds * at);
    line.end_s.push_back(seconds * (at + 1 / static_cast<double>(steps)));
    const bool gap = at > 0.6 && at < 0.63;
    line.value.push_back(gap ? kNotKnown
                             : height * (0.6 + 0.3 * std::sin(at * 37) * std::sin(at * 211)));
  }
  return line;
}

PageSchedule schedule_of(std::size_t slices, double seconds, std::uint32_t cpus,
                         std::uint32_t threads) {
  PageSchedule schedule;
  const double length = seconds * cpus / static_cast<double>(slices);
  for (std::size_t i = 0; i < slices; ++i) {
    const double start = length * static_cast<double>(i / cpus);
    const auto thread = static_cast<std::uint32_t>((i / cpus / 7 + i) % threads);
    if (i / cpus % 11 != 10)
      schedule.add(4242 + thread, static_cast<std::uint32_t>(i % cpus), start,
                   start + length * 0.93);
  }
  return schedule;
}

PageFlame flame_of(std::size_t fan, std::size_t depth) {
  PageFlame flame;
  flame.title = "task-clock";
  flame.unit = "s";
  flame.add(0, "all", 0, 12.8);
  const auto main = flame.add(flame.add(0, "_start", 0, 12.8), "main", 0.1, 12.8);
  const auto solve = flame.add(main, "solve(Matrix const&)", 0.3, 12.2);
  for (const Kernel& kernel : kKernels)
    flame.add(solve, kernel.name, 11.9 * kernel.share, 11.9 * kernel.share);
  auto above = flame.add(main, "write_results", 0, 0.5);
  for (std::size_t i = 0; i < depth; ++i)
    above = flame.add(above, i % 3 == 2 ? "do_syscall_64" : "entry", 0, 0.5, i % 3 == 2);
  for (std::size_t i = 0; i < fan; ++i)
    flame.add(above, fmt::format("leaf_{}", i), 0.5 / static_cast<double>(fan),
              0.5 / static_cast<double>(fan));
  return flame;
}

PageTable functions_of(std::size_t others) {
  PageTable table{.title = "Functions", .left_out = "3 functions without samples are not shown"};
  PageColumn name{.name = "function", .form = CellForm::text};
  PageColumn binary{.name = "binary", .form = CellForm::text};
  PageColumn share{.name = "time", .form = CellForm::share, .help = "share of the run's time"};
  PageColumn flops{.name = "performance", .unit = "FLOP/s"};
  PageColumn intensity{.name = "intensity", .unit = "FLOP/B"};
  PageColumn samples{.name = "samples", .form = CellForm::count};
  const auto add = [&](const std::string& function, double part, double rate, double ratio,
                       Origin origin) {
    name.texts.push_back(function);
    binary.texts.emplace_back(origin == Origin::modelled ? "" : "/usr/bin/solver");
    share.numbers.push_back(part);
    flops.numbers.push_back(rate);
    flops.origins.push_back(origin);
    intensity.numbers.push_back(ratio);
    samples.numbers.push_back(std::round(part * 12834));
  };
  for (const Kernel& kernel : kKernels)
    add(kernel.name, kernel.share, kernel.flops, kernel.intensity,
        kernel.share > 0.01 ? Origin::counted : Origin::modelled);
  for (std::size_t i = 0; i < others; ++i)
    add(fmt::format("helper_{}", i), 0.0001, kNotKnown, kNotKnown, Origin::missing);
  table.columns = {name, share, flops, intensity, samples, binary};
  return table;
}

// A loop of three instructions at +20 behind eight that took no time. The last of it jumps back,
// and the addition, which holds it back, waits for the load.
PageCode code_of(const std::string& name, const std::string& source) {
  model::AnnotatedFunction function;
  function.name = name;
  function.binary = "/usr/bin/solver";
  function.address = 0x401000;
  function.seconds = 3.9;
  function.share_of_time = 0.61;
  function.samples = 1566;
  function.places.push_back({"/src/fock.c", 12, source, {}});
  function.places.push_back({"/src/fock.h", 3, "return a * b;", {"product"}});
  for (std::uint64_t i = 0; i < 11; ++i) {
    model::AnnotatedInstruction each;
    each.address = 0x401000 + 4 * i;
    each.text = "nop";
    each.count = i < 8 ? 1 : 1e6;
    each.waited = 0;
    function.code.push_back(each);
  }
  function.code[8].text = "vmovsd xmm1, qword ptr [rax]";
  function.code[9].text = "vaddsd xmm0, xmm0, xmm1";
  function.code[10].text = "jnz 0x401020";
  function.code[8].place = 2;
  function.code[9].place = function.code[10].place = 1;
  function.code[9].samples = 1409;
  function.code[9].share = 0.9;
  function.code[9].waited = 0.8;
  function.code[9].waits_for = 0x401020;
  function.code[10].samples = 157;
  function.code[10].share = 0.1;
  function.code[10].target = 0x401020;
  return page_code(function);
}

PageData full() {
  PageData page;
  page.title = "solver";
  page.command = "./solver --basis cc-pVTZ input.dat";
  page.source = "counts: virtual PMU, exact; time: native run";
  page.figures = {{"attained", "11.8 GFLOP/s", "on 2 threads"},
                  {"intensity", "0.21 FLOP/B", "bytes as the core sees them"},
                  {"limited by", "L2 bandwidth", "54 % of it reached"},
                  {"time", "6.42 s", "native run"},
                  {"energy", "312 J", "4.1 nJ per FLOP", Origin::modelled}};
  page.verdict = {"make_fock_matrix is at its roof: fewer bytes, not faster code, will help."};
  page.warnings = {{WarningKind::lost, "1,204 records that the recorder could not keep"},
                   {WarningKind::scaled, "fp_256_dp shared a counter for 38 % of the time"},
                   {WarningKind::estimated, "energy comes from a model, no meter on this machine"}};
  page.rooflines = {roofs(2), roofs(1)};
  add_kernels(page, 1, 0);
  for (const bool is_first : {true, false}) {
    model::RoofPoint thread =
        point_of(model::Scope::thread, is_first ? "solver 4242" : "worker 4243",
                 is_first ? 0.2 : 0.23, 5.9e9);
    thread.subject.tid = is_first ? 4242 : 4243;
    set_time(thread, 0.5, 6.42);
    set_limit(thread, "L2 bandwidth", 0.54);
    page.points.add(thread);
  }
  model::RoofPoint not_counted;
  not_counted.subject.scope = model::Scope::function;
  not_counted.subject.name = "parse_input";
  set_time(not_counted, 0.001, 6.42);
  page.points.add(not_counted);
  add_slices(page.points, 3120, 6.42);
  page.time_lines = {line_of("performance", "FLOP/s", 14e9, 6.42, 640),
                     line_of("memory", "B/s", 60e9, 6.42, 640),
                     line_of("package power", "W", 70, 6.42, 64)};
  page.time_lines[2].origin = Origin::modelled;
  page.threads = {{4242, "solver"}, {4243, "worker"}, {4244, "logger"}};
  page.schedule = schedule_of(420, 6.42, 2, 3);
  page.flames = {flame_of(40, 6)};
  page.flames.push_back(page.flames[0]);
  page.flames[1].title = "page-faults";
  page.flames[1].unit = "samples";
  page.tables = {functions_of(120)};
  page.codes = {code_of("make_fock_matrix", "f[i] += product(a, b);"), code_of("reduce", "")};
  page.facts = {{"Machine", {{"CPU", "AMD EPYC 7B13"}, {"cores", "2"}, {"kernel", "Linux 6.18"}}},
                {"Run", {{"exit status", "0"}, {"threads", "3"}, {"started", "2026-05-04 10:31"}}}};
  return page;
}

PageData two_runs() {
  PageData page;
  page.title = "before and after";
  page.runs = {"before", "after"};
  page.rooflines = {roofs(2)};
  add_kernels(page, 1, 0);
  add_kernels(page, 1.7, 1);
  page.time_lines = {line_of("performance", "FLOP/s", 14e9, 6.42, 200, 0),
                     line_of("performance", "FLOP/s", 24e9, 3.8, 200, 1)};
  return page;
}

PageData million() {
  PageData page;
  page.title = "a million";
  page.rooflines = {roofs(2)};
  add_kernels(page, 1, 0);
  add_slices(page.points, 1000000, 3600);
  page.time_lines = {line_of("performance", "FLOP/s", 14e9, 3600, 200000)};
  page.schedule = schedule_of(100000, 3600, 16, 40);
  page.flames = {flame_of(17000, 20)};
  page.tables = {functions_of(20000)};
  return page;
}

// Names that try to become more than text.
PageData hostile() {
  const std::string script = "</script><img src=x onerror=\"document.title='owned'\">";
  const std::vector<std::string> names = {script,
                                          "<!--<script>",
                                          "{{constructor.constructor('alert(1)')()}}",
                                          "\x1b[31mred\x1b[0m\n\r\t",
                                          "\xe2\x80\xae"
                                          "gnp.elif",  // a right-to-left override
                                          "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
                                          "\xff\xfe not UTF-8",
                                          "__proto__",
                                          "javascript:alert(1)",
                                          std::string(5000, 'x')};
  PageData page;
  page.title = page.command = page.source = script;
  page.verdict = names;
  page.runs = {script};
  page.rooflines = {roofs(1)};
  page.rooflines[0].machine = page.rooflines[0].slopes[0].name = script;
  page.flames.emplace_back().title = script;
  page.flames[0].add(0, script, 0, 10);
  PageColumn name{.name = "function", .form = CellForm::text};
  PageColumn share{.name = script, .form = CellForm::share, .unit = script, .help = script};
  page.facts = {{script, {}}};
  page.codes = {code_of(script, script)};
  for (const auto& text : names) {
    page.figures.push_back({text, text, text});
    page.warnings.push_back({WarningKind::note, text});
    model::RoofPoint point = point_of(model::Scope::function, text,
                                      0.1 * static_cast<double>(page.points.size() + 1), 1e9);
    set_time(point, 0.1, 10);
    set_limit(point, text, 0.5);
    page.points.add(point);
    page.flames[0].add(0, text, 1, 1);
    name.texts.push_back(text);
    share.numbers.push_back(0.1);
    page.facts[0].facts.push_back({text, text});
  }
  page.threads = {{1, script}};
  page.schedule = PageSchedule{};
  page.schedule->add(1, 0, 0, 1);
  page.time_lines = {{.name = script, .unit = script, .start_s = {0}, .end_s = {1}, .value = {1}}};
  page.tables = {{.title = script, .columns = {name, share}, .left_out = script}};
  return page;
}

// An interpreter beside a kernel: hardly an operation among all its bytes.
PageData hardly_any() {
  PageData page;
  page.rooflines = {roofs(1)};
  model::RoofPoint kernel = point_of(model::Scope::function, "kernel", 0.5, 10e9);
  set_time(kernel, 0.6, 10);
  page.points.add(kernel);
  model::RoofPoint interpreter = point_of(model::Scope::function, "interpreter", 5e-8, 400);
  set_time(interpreter, 0.4, 10);
  page.points.add(interpreter);
  return page;
}

// Two events, of which one has stacks; one broken chain is far deeper than the others.
PageData recording() {
  PageData page;
  page.title = "perf.data";
  page.flames = {flame_of(4, 2)};
  page.flames[0].title = "cycles";
  auto above = page.flames[0].add(0, "[broken]", 0, 0.04);
  for (int i = 0; i < 120; ++i) above = page.flames[0].add(above, "[not mapped]", 0, 0.04);
  page.flames[0].total[0] += 0.04;
  page.flames.push_back({.title = "page-faults", .unit = "samples"});
  page.flames[1].add(0, "all", 0, 7);
  page.flames[1].add(0, "read_input", 7, 7);
  PageTable table{.title = "Functions"};
  table.columns = {{.name = "function", .form = CellForm::text},
                   {.name = "binary", .form = CellForm::text}};
  for (const char* event : {"cycles", "page-faults"}) {
    table.columns.push_back({.name = "self", .form = CellForm::share, .event = event});
    table.columns.push_back({.name = "samples", .form = CellForm::count, .event = event});
  }
  for (const Kernel& kernel : kKernels) {
    table.columns[0].texts.emplace_back(kernel.name);
    table.columns[1].texts.emplace_back("/usr/bin/solver");
    for (const int at : {2, 3})
      table.columns[at].numbers.push_back(kernel.share * (at == 2 ? 1 : 500));
    for (const int at : {4, 5}) table.columns[at].numbers.push_back(0);
  }
  table.columns[0].texts.emplace_back("read_input");
  table.columns[1].texts.emplace_back("/usr/bin/solver");
  for (const int at : {2, 3}) table.columns[at].numbers.push_back(0);
  for (const int at : {4, 5}) table.columns[at].numbers.push_back(at == 4 ? 1 : 7);
  page.tables = {table};
  page.threads = {{4242, "solver"}, {4243, "a-worker"}, {4244, "logger"}};
  page.schedule = schedule_of(420, 6.42, 2, 3);
  return page;
}

// Eight ranks on two nodes.
PageData ranks() {
  PageData page;
  page.title = "job";
  page.rooflines = {roofs(8)};
  page.has_ranks = true;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    model::RoofPoint point = point_of(model::Scope::thread, fmt::format("rank {}", rank),
                                      0.2 + 0.05 * rank, 4e9 + 1e9 * rank);
    point.subject.tid = rank;
    set_time(point, 0.125, 8);
    page.points.add(point);
    page.threads.push_back({rank, "", rank < 4 ? "node17" : "node18"});
  }
  return page;
}

const std::map<std::string, std::function<PageData()>> kPages = {
    {"recording", recording},   {"ranks", ranks},
    {"hardly_any", hardly_any}, {"full", full},
    {"runs", two_runs},         {"million", million},
    {"hostile", hostile},       {"empty", [] { return PageData{}; }}};

int write_pages(const std::string& folder, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto html = page_html(kPages.at(name)());
    const auto done = html ? replace_file(join_path(folder, name + ".html"), *html)
                           : tl::unexpected(html.error());
    if (done) continue;
    fmt::print(stderr, "{}: {}\n", done.error().what, done.error().why);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace loft::view

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::vector<std::string> names(argv + 2, argv + argc);
  if (names.empty())
    for (const auto& [name, make] : loft::view::kPages) names.push_back(name);
  return loft::view::write_pages(argv[1], names);
}
