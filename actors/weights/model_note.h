// ModelNote: what a weights file says of itself, so that the net, its pictures and its classes'
// names follow from the file alone.
//
// It is the file's metadata: of the job's sections the keys that a net and its pictures depend on,
// "net.bn_scale" = "true", in the canonical text of a cluster file, and beside them the facts that
// the job found ("rows", "classes", "labels", …). Tensors say what they hold by themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/job/job.h"
#include "input/batches/prepare.h"
#include "input/formats/labels.h"
#include "nets/net_options.h"
#include "nets/weights/weights_file.h"
#include "runtime/base/result.h"

namespace sterna::actors {

struct ModelNote {
  JobSection job;      ///< its net, hidden widths and precision
  NetSection choices;  ///< all of them
  /// The data set's name, the preprocessing (a family, never "auto") with its mean and deviation,
  /// and the label offset.
  DataSection data;
  std::uint64_t steps = 0;   ///< updates of the parameters so far
  double average_decay = 0;  ///< above 0: the tensors are moving averages, of this decay
  std::uint32_t rows = 0;    ///< of a picture as the net sees it
  std::uint32_t columns = 0;
  std::uint32_t channels = 0;
  std::uint32_t classes = 0;
  std::uint32_t first_label = 0;         ///< which `labels` begin with
  std::vector<std::string> labels = {};  ///< what the classes are called; none: nobody says
  bool operator==(const ModelNote&) const = default;

  /// What the net is made with, `batch` images at once.
  nets::NetOptions net(std::uint32_t batch) const;
  /// How pictures become what the net sees, as in the evaluation of the job that left the weights.
  input::Preparation preparation() const;
  /// As the data set's files say it, or the class's number.
  std::string name_of(std::uint32_t label) const;
  /// A job whose readers and evaluator see pictures as that one's did; it trains nothing.
  JobConfig as_job() const;
};

/// Of weights after so many steps of a job. `family` prepares its pictures.
ModelNote note_of(const JobConfig& job, std::uint64_t steps, std::string_view family,
                  const input::ClassLabels& labels);

/// The first label that the two call differently, in words: `class 1 is "cat" in A and "dog" in B`,
/// where A and B are what messages call them. None where all names that both have are the same.
std::optional<std::string> first_other_class(const ModelNote& a, std::string_view in_a,
                                             const ModelNote& b, std::string_view in_b);

nets::Metadata to_metadata(const ModelNote& note);

/// From a file that may come from anywhere; `path` is what messages call it. Every value is held to
/// the ranges of its key, and together they describe a net that can be made; metadata of others is
/// passed over. Errors: invalid_argument for a file that says nothing of itself (another program's,
/// or of a build before this note), malformed for one that says what cannot be, or names a key
/// that this build does not know; in one line.
Result<ModelNote> note_from(const nets::Metadata& metadata, const std::string& path);

}  // namespace sterna::actors
