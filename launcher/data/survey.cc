#include "launcher/data/survey.h"

#include <fmt/format.h>

#include <algorithm>

#include "input/pictures/decode.h"

namespace sterna::launcher {

namespace {

constexpr std::size_t kMostDamages = 10;

struct Seen {
  input::PictureShape shape;
  std::uint16_t label = 0;
};

Result<Seen> look_at(const input::Source& source, std::uint64_t index, bool decode) {
  STERNA_ASSIGN(const input::StoredExample example, source.read(index));
  STERNA_ASSIGN(const input::PictureShape shape,
                input::shape_of(example.picture, input::kMostPixels));
  if (decode) STERNA_TRY(input::decode(example.picture, {.channels = shape.channels}));
  if (example.label >= source.facts().classes) {
    return Error{Errc::malformed,
                 fmt::format("label {} of {} classes", example.label, source.facts().classes)};
  }
  return Seen{shape, example.label};
}

void widen(Extent& extent, std::uint32_t length) {
  extent.least = extent.most == 0 ? length : std::min(extent.least, length);
  extent.most = std::max(extent.most, length);
}

}  // namespace

Survey survey(const input::Source& source, const SurveyOptions& options) {
  Survey found;
  found.examples = source.facts().count;
  found.per_class.resize(source.facts().classes);
  for (std::uint64_t i = 0; i < found.examples; ++i) {
    if (options.progress) options.progress(i, found.examples);
    const Result<Seen> seen = look_at(source, i, options.decode);
    if (!seen) {
      if (found.damaged++ < kMostDamages) {
        std::string why = seen.error().message;
        const std::string place = source.place_of(i);
        if (!place.empty() && why.find(place) == std::string::npos) why.insert(0, place + ": ");
        found.damages.push_back(fmt::format("example {}: {}", i, why));
      }
      continue;
    }
    widen(found.rows, seen->shape.rows);
    widen(found.columns, seen->shape.columns);
    widen(found.channels, seen->shape.channels);
    ++found.per_class[seen->label];
  }
  return found;
}

}  // namespace sterna::launcher
