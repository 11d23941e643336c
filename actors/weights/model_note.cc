#include "actors/weights/model_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "actors/reader/preparation.h"
#include "input/augment/family.h"

namespace sterna::actors {
namespace {

constexpr std::string_view kFormatKey = "format";
constexpr std::string_view kFormat = "2";  // "1" said nothing of pictures

/// The section with these of its keys alone.
template <class S>
Section<S> only(Section<S> section, const std::vector<std::string_view>& names) {
  std::erase_if(section.keys, [&](const Key<S>& key) {
    return std::find(names.begin(), names.end(), key.name) == names.end();
  });
  return section;
}

Section<ModelNote> facts_section() {
  using S = ModelNote;
  const auto side = [](std::string_view name, std::uint32_t S::*field) {
    return key(name, field, "of a picture").at_least(1).at_most(kLongestSide);
  };
  return {"",
          false,
          "what the job found",
          {key("steps", &S::steps, "updates of the parameters").at_least(0).at_most(kMostSteps),
           key("average_decay", &S::average_decay, "of moving averages").at_least(0).below(1),
           side("rows", &S::rows), side("columns", &S::columns),
           key("channels", &S::channels, "of a picture").at_least(1).at_most(3),
           key("classes", &S::classes, "of the labels").at_least(1).at_most(input::kMostClasses),
           key("first_label", &S::first_label, "of those that have names")
               .at_least(0)
               .at_most(input::kMostClasses - 1),
           key("labels", &S::labels, "the classes' names")}};
}

/// Calls visit(keys, values) for all that a note says.
template <class Note, class Visit>
void for_each_part(Note& note, Visit visit) {
  visit(only(job_section(), {"net", "hidden", "precision"}), note.job);
  visit(net_section(), note.choices);
  visit(only(data_section(), {"name", "preprocess", "label_offset", "mean", "deviation"}),
        note.data);
  visit(facts_section(), note);
}

std::string full_name(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

/// What no terminal should be given.
bool is_control(unsigned char c) { return c < ' ' || c == 127; }
bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_control);
}

/// One value, in the canonical text of a section.
template <class S>
Complaint read_value(std::string_view section, const Key<S>& key, const std::string& text,
                     S& into) {
  const Section<S> one{section, false, "", {key}};
  const std::string canonical = fmt::format("{}{} = {}\n", header(one), key.name, text);
  SectionReader reader(canonical);
  const Result<void> read = reader.read(one, into);
  if (!read) return read.error().message;
  if (!reader.at_end()) {
    return fmt::format("\"{}\" is more than a value", full_name(section, key.name));
  }
  return std::nullopt;
}

/// What is wrong between the values, each of which may be.
Complaint mismatch(const ModelNote& note) {
  if (note.data.preprocess == kAutoPreprocess) return "does not say how pictures are prepared";
  if (note.labels.size() + note.first_label > input::kMostClasses) {
    return "names more classes than labels can count";
  }
  if (std::any_of(note.labels.begin(), note.labels.end(), has_control_characters)) {
    return "has names of classes with control characters";
  }
  if (const Result<void> valid = validate(note.as_job()); !valid) return valid.error().message;
  if (const auto net = nets::check_net_options(note.net(1)); !net) return net.error().message;
  return std::nullopt;
}

}  // namespace

JobConfig ModelNote::as_job() const {
  JobConfig config;
  config.section() = job;
  config.steps = std::max<std::uint64_t>(1, steps);
  config.batch = 1;
  config.net_choices = choices;
  config.data = data;
  config.data.classes = classes;
  config.data.channels = channels;
  config.picture = {rows, columns, channels};
  config.classes = classes;
  return config;
}

nets::NetOptions ModelNote::net(std::uint32_t batch) const {
  nets::NetOptions options = net_options(as_job());
  options.batch = batch;
  options.trains = false;
  return options;
}

input::Preparation ModelNote::preparation() const {
  input::Preparation how;
  how.family = input::find_family(data.preprocess);
  how.options = family_options(as_job());
  return how;
}

std::string ModelNote::name_of(std::uint32_t label) const {
  const std::size_t index = std::size_t{label} - first_label;
  return label >= first_label && index < labels.size() ? labels[index] : std::to_string(label);
}

ModelNote note_of(const JobConfig& job, std::uint64_t steps, std::string_view family,
                  const input::ClassLabels& labels) {
  ModelNote note;
  note.job.net = job.net;
  note.job.hidden = job.hidden;
  note.job.precision = job.precision;
  note.choices = job.net_choices;
  note.data.name = job.data.name;
  note.data.preprocess = family;
  note.data.label_offset = job.data.label_offset;
  note.data.mean = job.data.mean;
  note.data.deviation = job.data.deviation;
  note.steps = steps;
  note.average_decay = job.optimizer.average_decay;
  note.rows = job.picture.rows;
  note.columns = job.picture.columns;
  note.channels = job.picture.channels;
  note.classes = job.classes;
  note.first_label = labels.first;
  note.labels = labels.names;
  for (std::string& label : note.labels) {  // folders' names, which may hold anything
    std::replace_if(label.begin(), label.end(), is_control, '?');
  }
  return note;
}

std::optional<std::string> first_other_class(const ModelNote& a, std::string_view in_a,
                                             const ModelNote& b, std::string_view in_b) {
  const auto end = [](const ModelNote& note) { return note.first_label + note.labels.size(); };
  const std::size_t both = std::min(end(a), end(b));
  for (std::size_t label = std::max(a.first_label, b.first_label); label < both; ++label) {
    const std::string& one = a.labels[label - a.first_label];
    const std::string& other = b.labels[label - b.first_label];
    if (one == other) continue;
    return fmt::format("class {} is \"{}\" in {} and \"{}\" in {}", label, one, in_a, other, in_b);
  }
  return std::nullopt;
}

nets::Metadata to_metadata(const ModelNote& note) {
  nets::Metadata metadata{{std::string(kFormatKey), std::string(kFormat)}};
  for_each_part(note, [&]<class S>(const Section<S>& keys, const S& values) {
    for (const Key<S>& key : keys.keys) {
      metadata[full_name(keys.name, key.name)] = toml_text(key, values);
    }
  });
  return metadata;
}

Result<ModelNote> note_from(const nets::Metadata& metadata, const std::string& path) {
  const auto format = metadata.find(std::string(kFormatKey));
  if (format == metadata.end() || format->second != kFormat || !metadata.contains("job.net")) {
    return Error{Errc::invalid_argument,
                 path +
                     ": does not say which net, pictures and classes its weights are for, as "
                     "weights of this build's runs do"};
  }
  ModelNote note;
  Complaint complaint;
  std::vector<std::string> known;
  for_each_part(note, [&]<class S>(const Section<S>& keys, S& values) {
    for (const Key<S>& key : keys.keys) {
      const std::string name = known.emplace_back(full_name(keys.name, key.name));
      const auto written = metadata.find(name);
      if (complaint || written == metadata.end()) continue;  // a later key's default is as it was
      complaint = read_value(keys.name, key, written->second, values);
    }
  });
  for (const auto& [name, value] : metadata) {
    const bool ours =
        name.starts_with("job.") || name.starts_with("net.") || name.starts_with("data.");
    if (complaint || !ours || std::find(known.begin(), known.end(), name) != known.end()) continue;
    complaint = fmt::format("says \"{}\", which this build does not know", nets::shown_name(name));
  }
  if (!complaint) complaint = mismatch(note);
  if (complaint) return Error{Errc::malformed, fmt::format("{}: {}", path, *complaint)};
  return note;
}

}  // namespace sterna::actors
