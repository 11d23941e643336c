#include "launcher/summary/run_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "input/pictures/encode.h"
#include "input/records/tfrecord.h"
#include "kernels/numbers/histogram.h"
#include "launcher/summary/event.pb.h"
#include "launcher/text/whole_number.h"
#include "runtime/base/hex.h"

namespace sterna::launcher {
namespace {

/// Files of this version and later hold events of which a later start takes the place.
constexpr const char* kVersion = "brain.Event:2";

/// A field of a line, and its tag.
struct Scalar {
  const char* field;
  const char* tag;
};
constexpr std::array<Scalar, 2> kLoss = {
    {{"loss", "avg_total_loss"}, {"decay_loss", "avg_reg_loss"}}};
constexpr std::array<Scalar, 10> kStep = {{{"learning_rate", "learning_rate"},
                                           {"examples_per_second", "examples_per_second"},
                                           {"bytes_up", "bytes_up"},
                                           {"bytes_down", "bytes_down"},
                                           {"bits_up", "bits_up"},
                                           {"bits_down", "bits_down"},
                                           {"nonzero", "nonzero"},
                                           {"saturated", "saturated"},
                                           {"staleness", "staleness"},
                                           {"data_wait", "data_wait"}}};
constexpr std::array<Scalar, 3> kEvaluation = {{{"precision_at_1", "Accuracy @ 1"},
                                                {"recall_at_5", "Accuracy @ 5"},
                                                {"loss", "evaluated_loss"}}};
constexpr std::array<Scalar, 7> kTensor = {{{"bits_up", "bits_up"},
                                            {"bits_down", "bits_down"},
                                            {"ratio", "ratio"},
                                            {"saturated", "saturated"},
                                            {"encode_seconds", "encode_seconds"},
                                            {"decode_seconds", "decode_seconds"},
                                            {"exchange_seconds", "exchange_seconds"}}};

void append_record(std::string& out, const wire::Event& event) {
  const std::string data = event.SerializeAsString();
  const auto bytes = std::span(reinterpret_cast<const std::uint8_t*>(data.data()), data.size());
  const input::RecordFrame frame = input::frame_of(bytes);
  out.append(reinterpret_cast<const char*>(frame.header.data()), frame.header.size());
  out += data;
  out.append(reinterpret_cast<const char*>(frame.footer.data()), frame.footer.size());
}

void add(wire::Summary& summary, std::string tag, std::optional<double> number) {
  if (!number) return;
  wire::Value& value = *summary.add_value();
  value.set_tag(std::move(tag));
  value.set_simple_value(static_cast<float>(*number));
}

template <std::size_t kCount>
void add(wire::Summary& summary, const std::array<Scalar, kCount>& scalars, const Json& line,
         const std::string& before = "", const std::string& behind = "") {
  for (const Scalar& one : scalars) {
    std::string tag = before;
    tag += one.tag;
    tag += behind;
    add(summary, std::move(tag), json_number_of(line, one.field));
  }
}

void add_loss(wire::Summary& summary, const Json& line) {
  const std::optional<double> rank = json_number_of(line, "rank");
  const std::string behind = rank ? fmt::format("/rank{}", *rank) : "";
  const std::optional<double> total = json_number_of(line, "loss");
  const std::optional<double> decay = json_number_of(line, "decay_loss");
  if (total && decay) add(summary, "loss" + behind, *total - *decay);
  add(summary, kLoss, line, "", behind);
}

/// "", "/train", "/averages", "/train averages".
std::string whose(const Json& line) {
  const std::string subset = json_text_of(line, "subset", "test");
  const std::string of = json_text_of(line, "of", "parameters");
  std::string text = subset == "test" ? "" : subset;
  if (of != "parameters") text += (text.empty() ? "" : " ") + of;
  return text.empty() ? text : "/" + text;
}

void add_readers(wire::Summary& summary, const Json& line) {
  const auto readers = line.find("readers");
  if (readers == line.end() || !readers->is_array()) return;
  for (const Json& reader : *readers) {
    if (!reader.is_object()) continue;
    add(summary, "pictures_per_second/" + json_text_of(reader, "reader", ""),
        json_number_of(reader, "pictures_per_second"));
  }
}

void add_tensor(wire::Summary& summary, const Json& line) {
  const std::string tensor = json_text_of(line, "tensor", "") + "/";
  if (const auto nonzero = json_number_of(line, "nonzero")) {
    add(summary, tensor + "binary/sparsity", 1 - *nonzero);
  }
  add(summary, kTensor, line, tensor);
}

/// The upper ends of buckets from the least to the largest; those that nothing is in are one, so
/// that each of the others has its own lower end.
void fill(wire::Histogram& histogram, const Json& line) {
  const auto buckets = line.find("buckets");
  const auto counts = line.find("counts");
  if (buckets == line.end() || counts == line.end() || !buckets->is_array() ||
      !counts->is_array() || buckets->size() != counts->size()) {
    return;
  }
  const auto add = [&](double limit, double count) {
    histogram.add_bucket_limit(limit);
    histogram.add_bucket(count);
  };
  std::optional<double> last;
  for (std::size_t i = 0; i < buckets->size(); ++i) {
    const Json& bucket = (*buckets)[i];
    const Json& count = (*counts)[i];
    constexpr auto kMost = static_cast<std::int64_t>(kernels::kHistogramMagnitudes);
    if (!bucket.is_number_integer() || !count.is_number()) continue;
    const auto n = bucket.get<std::int64_t>();
    if (n <= -kMost || n >= kMost) continue;
    const kernels::Magnitudes at = kernels::magnitudes_of(static_cast<std::int32_t>(n));
    const double low = n > 0 ? at.low : -at.high;
    if (last != low) add(low, 0);
    last = n < 0 ? -at.low : at.high;
    add(*last, count.get<double>());
  }
}

/// Weights have their tensor's name, as the originals' summaries do.
void add_histogram(wire::Summary& summary, const Json& line) {
  const std::string of = json_text_of(line, "of", "");
  const std::string tensor = json_text_of(line, "tensor", "");
  wire::Value& value = *summary.add_value();
  if (of == "weights") {
    value.set_tag(tensor);
  } else {
    value.set_tag(tensor + (of == "sent" ? "/binary/gradients" : "/" + of));
  }
  wire::Histogram& histogram = *value.mutable_histo();
  histogram.set_num(json_number_of(line, "elements").value_or(0));
  histogram.set_min(json_number_of(line, "least").value_or(0));
  histogram.set_max(json_number_of(line, "most").value_or(0));
  histogram.set_sum(json_number_of(line, "sum").value_or(0));
  histogram.set_sum_squares(json_number_of(line, "sum_of_squares").value_or(0));
  fill(histogram, line);
}

/// Markdown, as the text's reader takes it.
void add_text(wire::Summary& summary, std::string tag, std::string text) {
  wire::Value& value = *summary.add_value();
  value.set_tag(std::move(tag));
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  wire::Tensor& tensor = *value.mutable_tensor();
  tensor.set_dtype(wire::Tensor::STRING);
  tensor.mutable_tensor_shape()->add_dim()->set_size(1);
  tensor.add_string_val(std::move(text));
}

/// The picture, and beside it, as a text, what it is and what it was taken for.
void add_picture(wire::Summary& summary, const Json& line) {
  const auto number_of = [&](const char* field, double most) {
    return static_cast<std::uint32_t>(
        std::clamp(json_number_of(line, field).value_or(0), 0.0, most));
  };
  constexpr double kMostSide = 65535;
  constexpr double kMostChannels = 3;
  input::Picture picture{
      .shape = {number_of("rows", kMostSide), number_of("columns", kMostSide),
                number_of("channels", kMostChannels)},
      .pixels = from_hex(json_text_of(line, "pixels", "")).value_or(std::vector<std::uint8_t>())};
  if (picture.pixels.size() != picture.shape.bytes()) return;
  const Result<std::vector<std::uint8_t>> png = input::encode_png(picture);
  if (!png) return;  // of no pixels, or not of grey or colours
  const std::string tag = fmt::format("images/{}", number_of("number", kMostSide));
  wire::Value& value = *summary.add_value();
  value.set_tag(tag);
  wire::Image& image = *value.mutable_image();
  image.set_height(static_cast<std::int32_t>(picture.shape.rows));
  image.set_width(static_cast<std::int32_t>(picture.shape.columns));
  image.set_colorspace(static_cast<std::int32_t>(picture.shape.channels));
  image.set_encoded_image_string(png->data(), png->size());
  add_text(summary, tag + "/prediction",
           fmt::format("class {}, taken for {}", number_of("label", kMostSide),
                       number_of("prediction", kMostSide)));
}

std::int64_t step_of(const Json& line) {
  return whole_number(json_number_of(line, "step").value_or(0), 0, kLastStep);
}

}  // namespace

EventRecords RunEvents::records_of(const Json& line) {
  EventRecords out;
  const std::string kind = json_text_of(line, "kind", "");
  if (const auto time = json_number_of(line, "time")) {  // of an attempt, whose seconds begin at 0
    began_ = *time;
    seconds_ = 0;
  }
  seconds_ = std::max(seconds_, json_number_of(line, "seconds").value_or(0));
  const auto append = [&](std::string& to, wire::Event event, std::int64_t step) {
    event.set_wall_time(began_ + seconds_);
    event.set_step(step);
    append_record(to, event);
  };
  if (!begun_) {
    begun_ = true;
    wire::Event version;
    version.set_file_version(kVersion);
    append(out.needed, version, 0);
  }
  wire::Event event;
  if (kind == "restart") {  // what is there of later steps is done again
    event.mutable_session_log()->set_status(wire::SessionLog::START);
    event.mutable_session_log()->set_msg(json_text_of(line, "cause", ""));
    append(out.needed, event, step_of(line) + 1);
  }
  if (!resolved_.empty()) {
    wire::Event text;
    add_text(*text.mutable_summary(), "resolved.toml",
             "```toml\n" + std::exchange(resolved_, {}) + "\n```");
    append(out.needed, std::move(text), 0);
  }
  wire::Summary summary;
  std::int64_t step = step_of(line);
  if (kind == "loss") {
    add_loss(summary, line);
  } else if (kind == "step") {
    add(summary, kStep, line);
    add_readers(summary, line);
  } else if (kind == "evaluation") {
    add(summary, kEvaluation, line, "", whose(line));
  } else if (kind == "histogram") {
    add_histogram(summary, line);
  } else if (kind == "picture") {
    add_picture(summary, line);
  } else if (kind == "tensor") {
    add_tensor(summary, line);
    step = last_step_;
  }
  last_step_ = kind == "restart" ? step : std::max(last_step_, step);
  if (summary.value_size() > 0) {
    *event.mutable_summary() = std::move(summary);
    append(out.own, event, step);
  }
  return out;
}

}  // namespace sterna::launcher
