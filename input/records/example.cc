#include "input/records/example.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "input/pictures/decode.h"
#include "input/records/example.pb.h"
#include "input/records/example_size.h"

namespace sterna::input {

namespace {

Error malformed(std::string message) { return {Errc::malformed, std::move(message)}; }

const char* kind_of(const wire::Feature& feature) {
  switch (feature.kind_case()) {
    case wire::Feature::kBytesList:
      return "bytes";
    case wire::Feature::kFloatList:
      return "floats";
    case wire::Feature::kInt64List:
      return "integers";
    case wire::Feature::KIND_NOT_SET:
      return "nothing";
  }
  return "nothing";
}

/// The features of an example, by key. What is missing or empty is null or without values.
class FeatureReader {
 public:
  explicit FeatureReader(wire::Example& example)
      : features_(*example.mutable_features()->mutable_feature()) {}

  /// The one text under the first of `keys` that has any; to be moved from, or null.
  Result<std::string*> text(std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      STERNA_ASSIGN(wire::Feature* const feature, find(key, wire::Feature::kBytesList));
      if (feature == nullptr || feature->bytes_list().value().empty()) continue;
      STERNA_TRY(expect_one(key, feature->bytes_list().value_size()));
      return feature->mutable_bytes_list()->mutable_value(0);
    }
    return nullptr;
  }

  Result<std::optional<std::int64_t>> integer(std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      STERNA_ASSIGN(wire::Feature* const feature, find(key, wire::Feature::kInt64List));
      if (feature == nullptr || feature->int64_list().value().empty()) continue;
      STERNA_TRY(expect_one(key, feature->int64_list().value_size()));
      return std::optional(feature->int64_list().value(0));
    }
    return std::optional<std::int64_t>();
  }

  Result<std::span<const float>> floats(const char* key) {
    STERNA_ASSIGN(wire::Feature* const feature, find(key, wire::Feature::kFloatList));
    if (feature == nullptr) return std::span<const float>();
    const auto& values = feature->float_list().value();
    return std::span<const float>(values.data(), static_cast<std::size_t>(values.size()));
  }

  bool is_integer(const char* key) const {
    const auto found = features_.find(key);
    return found != features_.end() && found->second.kind_case() == wire::Feature::kInt64List;
  }

 private:
  Result<wire::Feature*> find(const char* key, wire::Feature::KindCase kind) {
    const auto found = features_.find(key);
    if (found == features_.end()) return nullptr;
    wire::Feature& feature = found->second;
    if (feature.kind_case() == wire::Feature::KIND_NOT_SET) return nullptr;
    if (feature.kind_case() == kind) return &feature;
    const char* wanted = kind == wire::Feature::kBytesList   ? "bytes"
                         : kind == wire::Feature::kFloatList ? "floats"
                                                             : "integers";
    return malformed(
        fmt::format("the feature {} holds {}, and must hold {}", key, kind_of(feature), wanted));
  }

  static Result<void> expect_one(const char* key, int count) {
    if (count == 1) return {};
    return malformed(fmt::format("the feature {} has {} values, and must have one", key, count));
  }

  google::protobuf::Map<std::string, wire::Feature>& features_;
};

/// What image/format says, or of a JPEG and a PNG the picture's own first bytes.
Result<Coding> coding_by(std::string_view format, std::span<const std::uint8_t> bytes) {
  std::string upper(format);
  // By hand: what is a letter must not depend on the locale.
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (upper == "RAW") return Coding::pixels;
  const Result<Coding> seen = coding_of(bytes);
  if (upper.empty() || upper == "JPEG" || upper == "JPG" || upper == "PNG") {
    if (seen) return *seen;
    if (upper.empty()) {
      return malformed("its picture is neither JPEG nor PNG, and no image/format says what it is");
    }
    return upper == "PNG" ? Coding::png : Coding::jpeg;
  }
  constexpr std::size_t kShown = 20;
  return malformed(
      fmt::format("image/format is {:?}, and must be JPEG, PNG or RAW", format.substr(0, kShown)));
}

Result<std::uint32_t> extent(FeatureReader& features, const char* key, std::uint32_t missing) {
  STERNA_ASSIGN(const auto value, features.integer({key}));
  if (!value) return missing;
  if (*value < 0 || *value > std::numeric_limits<std::int32_t>::max()) {
    return malformed(fmt::format("{} is {}", key, *value));
  }
  return static_cast<std::uint32_t>(*value);
}

Result<PictureShape> shape_of(FeatureReader& features) {
  constexpr std::uint32_t kColours = 3;
  PictureShape shape;
  STERNA_ASSIGN(shape.rows, extent(features, "image/height", 0));
  STERNA_ASSIGN(shape.columns, extent(features, "image/width", 0));
  STERNA_ASSIGN(shape.channels, extent(features, "image/channels", kColours));
  return shape;
}

Result<void> check_raw(const PictureRecord& record) {
  const PictureShape& shape = record.shape;
  // The division first: the product of what a record says may not fit.
  const std::size_t row = std::size_t{shape.columns} * shape.channels;
  const bool fits = (shape.channels == 1 || shape.channels == 3) && row > 0 && shape.rows > 0 &&
                    record.bytes.size() % row == 0 && record.bytes.size() / row == shape.rows;
  if (fits) return {};
  return malformed(
      fmt::format("its RAW picture has {} bytes, which are not {} x {} pixels of {} "
                  "channels (image/height, image/width, image/channels: 1 or 3)",
                  record.bytes.size(), shape.rows, shape.columns, shape.channels));
}

Result<std::vector<Box>> boxes_of(FeatureReader& features) {
  STERNA_ASSIGN(const auto top, features.floats("image/object/bbox/ymin"));
  STERNA_ASSIGN(const auto left, features.floats("image/object/bbox/xmin"));
  STERNA_ASSIGN(const auto bottom, features.floats("image/object/bbox/ymax"));
  STERNA_ASSIGN(const auto right, features.floats("image/object/bbox/xmax"));
  if (left.size() != top.size() || bottom.size() != top.size() || right.size() != top.size()) {
    return malformed(
        fmt::format("image/object/bbox has {} ymin, {} xmin, {} ymax and {} xmax, and "
                    "must have as many of each",
                    top.size(), left.size(), bottom.size(), right.size()));
  }
  std::vector<Box> boxes;
  const auto within = [](float low, float high) { return 0 <= low && low < high && high <= 1; };
  for (std::size_t i = 0; i < top.size(); ++i) {
    boxes.push_back({.top = top[i], .left = left[i], .bottom = bottom[i], .right = right[i]});
    if (!within(top[i], bottom[i]) || !within(left[i], right[i])) {
      return malformed(fmt::format("box {} is [{}, {}) x [{}, {}), and must be a part of 0 to 1", i,
                                   top[i], bottom[i], left[i], right[i]));
    }
  }
  return boxes;
}

Result<std::string> name_of(FeatureReader& features) {
  if (!features.is_integer("id")) {
    STERNA_ASSIGN(std::string* const name, features.text({"image/filename", "id"}));
    return name != nullptr ? std::move(*name) : std::string();
  }
  STERNA_ASSIGN(std::string* const name, features.text({"image/filename"}));
  if (name != nullptr) return std::move(*name);
  STERNA_ASSIGN(const auto id, features.integer({"id"}));
  return id ? std::to_string(*id) : std::string();
}

/// Puts features under their keys.
class FeatureWriter {
 public:
  explicit FeatureWriter(wire::Example& example)
      : features_(*example.mutable_features()->mutable_feature()) {}

  void text(const char* key, const std::string& value) {
    if (!value.empty()) features_[key].mutable_bytes_list()->add_value(value);
  }
  void integer(const char* key, std::int64_t value) {
    features_[key].mutable_int64_list()->add_value(value);
  }
  void edges(const char* key, const std::vector<Box>& boxes, float Box::*edge) {
    auto& values = *features_[key].mutable_float_list();
    for (const Box& box : boxes) values.add_value(box.*edge);
  }

 private:
  google::protobuf::Map<std::string, wire::Feature>& features_;
};

const char* format_name(Coding coding) {
  switch (coding) {
    case Coding::pixels:
      return "RAW";
    case Coding::jpeg:
      return "JPEG";
    case Coding::png:
      return "PNG";
  }
  return "";
}

}  // namespace

EncodedPicture PictureRecord::picture() const {
  return {.coding = coding,
          .bytes = {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
          .shape = shape};
}

Result<PictureRecord> parse_picture_record(std::span<const std::uint8_t> data) {
  if (!example_fits(data, kMostExampleValues)) {
    return malformed(
        fmt::format("its data are no tf.Example, or hold more than {} values", kMostExampleValues));
  }
  wire::Example example;
  if (!example.ParseFromArray(data.data(), static_cast<int>(data.size()))) {
    return malformed("its data are no tf.Example");
  }
  FeatureReader features(example);
  PictureRecord record;
  STERNA_ASSIGN(std::string* const bytes, features.text({"image/encoded", "image"}));
  if (bytes == nullptr || bytes->empty()) {
    return malformed("it has no picture: neither image/encoded nor image");
  }
  record.bytes = std::move(*bytes);
  STERNA_ASSIGN(const std::string* const format, features.text({"image/format"}));
  STERNA_ASSIGN(record.coding, coding_by(format != nullptr ? *format : "", record.picture().bytes));
  STERNA_ASSIGN(record.shape, shape_of(features));
  if (record.coding == Coding::pixels) STERNA_TRY(check_raw(record));
  STERNA_ASSIGN(record.label, features.integer({"image/class/label", "label"}));
  STERNA_ASSIGN(std::string* const text, features.text({"image/class/text"}));
  if (text != nullptr) record.class_text = std::move(*text);
  STERNA_ASSIGN(std::string* const synset, features.text({"image/class/synset"}));
  if (synset != nullptr) record.synset = std::move(*synset);
  STERNA_ASSIGN(record.boxes, boxes_of(features));
  STERNA_ASSIGN(record.name, name_of(features));
  return record;
}

std::vector<std::uint8_t> pack_picture_record(const PictureRecord& record) {
  wire::Example example;
  FeatureWriter features(example);
  features.text("image/encoded", record.bytes);
  features.text("image/format", format_name(record.coding));
  if (record.shape.rows != 0) features.integer("image/height", record.shape.rows);
  if (record.shape.columns != 0) features.integer("image/width", record.shape.columns);
  if (record.shape.channels != 0) {
    features.integer("image/channels", record.shape.channels);
    features.text("image/colorspace", record.shape.channels == 1 ? "Grayscale" : "RGB");
  }
  if (record.label) features.integer("image/class/label", *record.label);
  features.text("image/class/text", record.class_text);
  features.text("image/class/synset", record.synset);
  features.text("image/filename", record.name);
  features.edges("image/object/bbox/ymin", record.boxes, &Box::top);
  features.edges("image/object/bbox/xmin", record.boxes, &Box::left);
  features.edges("image/object/bbox/ymax", record.boxes, &Box::bottom);
  features.edges("image/object/bbox/xmax", record.boxes, &Box::right);

  std::vector<std::uint8_t> data(example.ByteSizeLong());
  google::protobuf::io::ArrayOutputStream array(data.data(), static_cast<int>(data.size()));
  google::protobuf::io::CodedOutputStream out(&array);
  out.SetSerializationDeterministic(true);  // else a map's order is another in each process
  example.SerializeWithCachedSizes(&out);
  return data;
}

}  // namespace sterna::input
