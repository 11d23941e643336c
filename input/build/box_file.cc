#include "input/build/box_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "runtime/base/file.h"

namespace sterna::input {

namespace {

/// An annotation has a few hundred bytes.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kMostDepth = 16;

Error malformed(std::string why) { return {Errc::malformed, std::move(why)}; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

/// What an annotation says, in its own pixels.
struct Object {
  std::string name;
  std::optional<double> left, top, right, bottom;
};

struct Annotation {
  std::optional<double> width, height;
  std::vector<Object> objects;
};

/// Goes through elements with their text. Attributes, comments and declarations are passed over; no
/// entity is read, so that nothing grows.
class Scanner {
 public:
  explicit Scanner(std::string_view xml) : rest_(xml) {}

  Result<Annotation> read() {
    while (true) {
      const std::size_t open = rest_.find('<');
      if (open == std::string_view::npos) break;
      text_ = rest_.substr(0, open);
      rest_.remove_prefix(open + 1);
      if (rest_.starts_with("!--")) {
        STERNA_TRY(pass("-->"));
      } else if (rest_.starts_with('?') || rest_.starts_with('!')) {
        STERNA_TRY(pass(">"));
      } else {
        STERNA_TRY(tag());
      }
    }
    if (!path_.empty()) return malformed(fmt::format("it ends within <{}>", path_.back()));
    if (!seen_) return malformed("it has no <annotation>");
    return std::move(annotation_);
  }

 private:
  Result<void> pass(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) return malformed("it ends within a tag");
    rest_.remove_prefix(at + end.size());
    return {};
  }

  Result<void> tag() {
    const std::size_t close = rest_.find('>');
    if (close == std::string_view::npos) return malformed("it ends within a tag");
    std::string_view tag = rest_.substr(0, close);
    rest_.remove_prefix(close + 1);
    if (tag.starts_with('/')) return end(trimmed(tag.substr(1)));
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (path_.size() == kMostDepth) return malformed("its elements lie too deep in each other");
    path_.emplace_back(name);
    if (within({"annotation"})) seen_ = true;
    if (within({"annotation", "object"})) annotation_.objects.emplace_back();
    if (empty) path_.pop_back();
    return {};
  }

  Result<void> end(std::string_view name) {
    if (path_.empty() || path_.back() != name) {
      return malformed(fmt::format("</{}> ends nothing", name.substr(0, kShown)));
    }
    STERNA_TRY(take(trimmed(text_)));
    path_.pop_back();
    return {};
  }

  /// The text of the element that ends.
  Result<void> take(std::string_view text) {
    if (within({"annotation", "size", "width"})) return number(annotation_.width, text);
    if (within({"annotation", "size", "height"})) return number(annotation_.height, text);
    if (annotation_.objects.empty()) return {};
    Object& object = annotation_.objects.back();
    if (within({"annotation", "object", "name"})) object.name = text;
    const std::pair<std::string_view, std::optional<double>*> edges[] = {{"xmin", &object.left},
                                                                         {"ymin", &object.top},
                                                                         {"xmax", &object.right},
                                                                         {"ymax", &object.bottom}};
    for (const auto& [edge, into] : edges) {
      if (within({"annotation", "object", "bndbox", edge})) return number(*into, text);
    }
    return {};
  }

  Result<void> number(std::optional<double>& into, std::string_view text) const {
    into = number_in(text);
    if (into) return {};
    return malformed(
        fmt::format("<{}> is {:?}, and must be a number", path_.back(), text.substr(0, kShown)));
  }

  bool within(std::initializer_list<std::string_view> path) const {
    return std::ranges::equal(path_, path);
  }

  static constexpr std::size_t kShown = 20;

  std::string_view rest_;
  std::string_view text_;  ///< before the tag
  std::vector<std::string_view> path_;
  bool seen_ = false;
  Annotation annotation_;
};

/// Two edges as parts of `size`; none: nothing lies between them.
std::optional<std::pair<float, float>> part(double one, double other, double size) {
  const auto [low, high] =
      std::minmax({std::clamp(one / size, 0.0, 1.0), std::clamp(other / size, 0.0, 1.0)});
  const std::pair edges{static_cast<float>(low), static_cast<float>(high)};
  if (edges.first < edges.second) return edges;
  return std::nullopt;
}

}  // namespace

Result<std::vector<NamedBox>> parse_boxes(std::string_view xml) {
  STERNA_ASSIGN(Annotation found, Scanner(xml).read());
  std::vector<NamedBox> boxes;
  if (found.objects.empty()) return boxes;
  if (found.width.value_or(0) < 1 || found.height.value_or(0) < 1) {
    return malformed("it does not say the size of the picture");
  }
  for (Object& object : found.objects) {
    if (!object.left || !object.top || !object.right || !object.bottom) {
      return malformed("an object has no <bndbox> of four edges");
    }
    const auto across = part(*object.left, *object.right, *found.width);
    const auto down = part(*object.top, *object.bottom, *found.height);
    if (!across || !down) continue;
    boxes.push_back(
        {std::move(object.name), {down->first, across->first, down->second, across->second}});
  }
  return boxes;
}

Result<std::vector<NamedBox>> read_boxes(const std::filesystem::path& path) {
  STERNA_ASSIGN(const std::string xml, read_file(path, kMostBytes));
  return parse_boxes(xml).in(path.string());
}

}  // namespace sterna::input
