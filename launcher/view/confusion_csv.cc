#include "launcher/view/confusion_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "launcher/text/csv.h"

namespace sterna::launcher {

namespace {

std::string field_of(std::uint32_t label, const input::ClassLabels& names) {
  const bool named = label >= names.first && label - names.first < names.names.size();
  return named ? csv_quoted(names.names[label - names.first]) : std::to_string(label);
}

}  // namespace

std::string to_csv(const Confusion& confusion, const input::ClassLabels& names) {
  std::string csv = "label";
  const auto to = std::back_inserter(csv);
  for (std::uint32_t answer = 0; answer < confusion.classes; ++answer) {
    fmt::format_to(to, ",{}", field_of(answer, names));
  }
  csv += ",none\n";
  auto cell = confusion.cells.begin();
  for (std::uint32_t label = 0; label < confusion.classes; ++label) {
    csv += field_of(label, names);
    for (std::uint32_t answer = 0; answer <= confusion.classes; ++answer) {
      const bool is_next =
          cell != confusion.cells.end() && cell->label == label && cell->answer == answer;
      fmt::format_to(to, ",{}", is_next ? (cell++)->count : 0);
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace sterna::launcher
