#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "metric/compile.hpp"

namespace loft::metric {
namespace {

// A name on the way: its variants are tried in turn, the names of each visited in turn.
struct Frame {
  std::string name;
  std::vector<const Definition*> variants;
  std::size_t variant = 0;
  std::size_t next = 0;
  bool complete = true;  // all names of this variant so far are available
  bool touched_open_alias = false;
  std::size_t available = 0;  // names of this variant that are
  std::size_t nearest = 0;    // the variant with the largest share of available names so far
  double nearest_share = -1;
};

class Chooser {
 public:
  Chooser(const Library& library, const Available& available)
      : library_(library), available_(available) {}

  Result<Choices> run(const std::string& name, const std::vector<const Definition*>& roots) {
    open(name, roots);
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const Formula& formula = frame.variants[frame.variant]->formula;
      if (frame.next < formula.names.size()) {
        const std::string& needed = formula.names[frame.next];
        if (const auto known = done_.find(needed); known != done_.end()) {
          frame.complete = frame.complete && known->second.available;
          if (known->second.available) ++frame.available;
          ++frame.next;
        } else {
          LOFT_CHECK(visit(needed));
        }
      } else {
        finish_variant();
      }
    }
    return std::move(done_);
  }

 private:
  void open(const std::string& name, std::vector<const Definition*> variants) {
    Frame frame;
    frame.name = name;
    frame.variants = std::move(variants);
    stack_.push_back(std::move(frame));
    open_.insert(name);
  }

  static bool is_alias(const Frame& frame) {
    return std::ranges::all_of(frame.variants, [](const Definition* definition) {
      return definition->kind == DefinitionKind::alias;
    });
  }

  Result<void> visit(const std::string& name) {
    if (open_.contains(name)) return visit_open(name);
    if (const Constant* constant = library_.find_constant(name)) {
      done_[name] = {nullptr, constant, true};
      return {};
    }
    Frame frame;
    frame.variants = library_.find(name);
    if (frame.variants.empty() || (is_alias(frame) && available_(name))) {
      done_[name] = {nullptr, nullptr, available_(name)};
    } else if (stack_.size() >= kDeepestNesting) {
      return failure(ErrorKind::limit, fmt::format("use the metric '{}'", stack_.front().name),
                     fmt::format("more than {} definitions nest in each other", kDeepestNesting));
    } else {
      open(name, std::move(frame.variants));
    }
    return {};
  }

  // Two aliases may stand for each other: that way is simply closed. For metrics it is a mistake.
  Result<void> visit_open(const std::string& name) {
    const auto first = std::ranges::find(stack_, name, &Frame::name);
    if (std::any_of(first, stack_.end(), is_alias)) {
      stack_.back().complete = false;
      stack_.back().touched_open_alias = true;
      ++stack_.back().next;
      return {};
    }
    std::string path;
    std::size_t shown = 0;
    for (auto frame = first; frame != stack_.end(); ++frame)
      if (++shown <= kLongestPath) path += frame->name + " -> ";
    if (shown > kLongestPath) path += fmt::format("({} more) -> ", shown - kLongestPath);
    return failure(ErrorKind::invalid_input,
                   fmt::format("use the metric '{}'", stack_.front().name),
                   fmt::format("its definition leads back to itself: {}{}", path, name),
                   "break the circle in the metric file");
  }

  void finish_variant() {
    Frame& frame = stack_.back();
    const bool last = frame.variant + 1 == frame.variants.size();
    const auto names = static_cast<double>(frame.variants[frame.variant]->formula.names.size());
    if (const double share = static_cast<double>(frame.available) / std::max(names, 1.0);
        share > frame.nearest_share) {
      frame.nearest = frame.variant;
      frame.nearest_share = share;
    }
    if (!frame.complete && !last) {
      ++frame.variant;
      frame.next = 0;
      frame.available = 0;
      frame.complete = true;
      return;
    }
    // An alias that leads nowhere leaves the event itself, which is then known to be missing.
    const bool alias = is_alias(frame);
    const Definition* chosen = frame.complete ? frame.variants[frame.variant]
                               : alias        ? nullptr
                                              : frame.variants[frame.nearest];
    if (frame.complete || !frame.touched_open_alias)
      done_[frame.name] = {chosen, nullptr, frame.complete};
    const bool complete = frame.complete;
    const bool touched = frame.touched_open_alias;
    open_.erase(frame.name);
    stack_.pop_back();
    if (!complete && touched && !stack_.empty()) {
      stack_.back().complete = false;
      stack_.back().touched_open_alias = true;
      ++stack_.back().next;
    }
  }

  static constexpr std::size_t kLongestPath = 20;

  const Library& library_;
  const Available& available_;
  std::vector<Frame> stack_;
  std::set<std::string, std::less<>> open_;
  Choices done_;
};

}  // namespace

bool everything_is_available(std::string_view) { return true; }

Result<Choices> choose(const Library& library, const std::string& name,
                       const std::vector<const Definition*>& roots, const Available& available) {
  return Chooser(library, available).run(name, roots);
}

}  // namespace loft::metric
