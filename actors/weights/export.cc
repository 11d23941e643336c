#include "actors/weights/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <new>
#include <span>
#include <system_error>

#include "actors/weights/model_note.h"
#include "nets/describe_net.h"
#include "nets/export/npz.h"
#include "nets/export/onnx_model.h"
#include "nets/weights/weights_file.h"
#include "runtime/base/file.h"

namespace sterna::actors {
namespace {

/// What is written in any form.
struct Whole {
  nets::NetOptions net;
  std::vector<nets::ParameterSpec> table;
  std::vector<std::span<const float>> values;
  nets::Metadata metadata;
};

Result<void> write(std::string_view form, const std::string& into, const Whole& whole) {
  if (form == "safetensors") {
    return nets::write_safetensors(into, whole.table, whole.values, whole.metadata);
  }
  if (form == "npz") return nets::write_npz(into, whole.table, whole.values, whole.metadata);
  const auto build = [&](nets::Graph& graph) {
    return nets::find_net(whole.net.name)->build(graph, nets::zoo_options(whole.net));
  };
  STERNA_ASSIGN(const std::string model,
                nets::onnx_model(whole.net.name, build, whole.values, whole.metadata));
  return write_atomically(into, model);
}

/// The name of the first tensor that holds one that is no finite number; empty: none does.
std::string not_finite(const Whole& whole) {
  for (std::size_t i = 0; i < whole.table.size(); ++i) {
    const auto finite = [](float value) { return std::isfinite(value); };
    if (!std::ranges::all_of(whole.values[i], finite)) return whole.table[i].name;
  }
  return {};
}

Result<Exported> convert(const TrainedWeights& weights, std::string_view form,
                         const std::string& into) {
  STERNA_ASSIGN(const ModelNote note, weights.note());
  Whole whole{.net = note.net(1), .table = {}, .values = {}, .metadata = to_metadata(note)};
  STERNA_ASSIGN(nets::NetDescription described, nets::describe_net(whole.net));
  whole.table = std::move(described.parameters);
  STERNA_TRY(weights.check(whole.net.name, whole.table));
  std::vector<std::vector<float>> tensors;
  for (const nets::ParameterSpec& spec : whole.table) {
    std::vector<float>& tensor = tensors.emplace_back(spec.count());
    STERNA_TRY(weights.read(spec, tensor));
  }
  whole.values.assign(tensors.begin(), tensors.end());
  Exported exported{not_finite(whole)};
  if (form == "onnx" && !exported.not_finite.empty()) {
    return Error{
        Errc::non_finite,
        fmt::format("{}: {} holds numbers that are not finite, of which programs that run "
                    "ONNX may make answers; export another checkpoint, or --to safetensors",
                    weights.path(), exported.not_finite)};
  }
  STERNA_TRY(write(form, into, whole));
  return exported;
}

}  // namespace

const std::vector<WeightsForm>& weights_forms() {
  static const std::vector<WeightsForm> forms{
      {"safetensors", ".safetensors", "the same in fp32, whatever the file has"},
      {"npz", ".npz", "what numpy.load() opens"},
      {"onnx", ".onnx", "the net with its weights, opset 13"}};
  return forms;
}

Result<Exported> export_weights(const TrainedWeights& weights, std::string_view form,
                                const std::string& into) {
  if (std::ranges::find(weights_forms(), form, &WeightsForm::name) == weights_forms().end()) {
    return Error{Errc::invalid_argument, fmt::format("there is no form \"{}\"", form)};
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(weights.path(), into, ignored)) {
    return Error{Errc::invalid_argument,
                 into + ": is the file itself; name another one with --into"};
  }
  try {
    return convert(weights, form, into);
  } catch (const std::bad_alloc&) {
    return Error{Errc::io, weights.path() + ": does not fit into memory"};
  }
}

}  // namespace sterna::actors
