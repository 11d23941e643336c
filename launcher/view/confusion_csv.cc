#include "launcher/view/confusion_csv.h"

#include <fmt/format.h>

#include <iterator>

namespace sterna::launcher {

std::string to_csv(const Confusion& confusion) {
  std::string csv = "label";
  const auto to = std::back_inserter(csv);
  for (std::uint32_t answer = 0; answer < confusion.classes; ++answer) {
    fmt::format_to(to, ",{}", answer);
  }
  csv += ",none\n";
  auto cell = confusion.cells.begin();
  for (std::uint32_t label = 0; label < confusion.classes; ++label) {
    fmt::format_to(to, "{}", label);
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
