#include "launcher/text/text_table.h"

#include <algorithm>
#include <utility>

#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

using Cell = std::vector<std::string>;  // its lines

/// `text` in lines of at most `width` columns where a ", " lets them end there.
Cell broken(const std::string& text, std::size_t width) {
  Cell lines(1);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t comma = text.find(", ", begin);
    const std::size_t end = comma == std::string::npos ? text.size() : comma + 2;
    const std::string piece = text.substr(begin, end - begin);
    const bool full = width > 0 && !lines.back().empty() &&
                      columns(lines.back()) + columns(piece) > width + (end < text.size() ? 1 : 0);
    if (full) lines.emplace_back();
    lines.back() += piece;
    begin = end;
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string pad(width - std::min(width, columns(text)), ' ');
  return right ? pad + text : text + pad;
}

}  // namespace

std::vector<std::size_t> columns_that_fit(std::span<const ColumnSize> sizes, std::size_t width) {
  int most = 0;
  for (const ColumnSize& size : sizes) most = std::max(most, size.priority);
  while (true) {
    std::vector<std::size_t> shown;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].priority > most) continue;
      sum += sizes[i].width + (shown.empty() ? 0 : 2);
      shown.push_back(i);
    }
    if (sum <= width || most == 0) return shown;
    --most;
  }
}

std::vector<std::string> text_table(const std::vector<TableColumn>& all,
                                    const std::vector<std::vector<std::string>>& rows,
                                    std::size_t width) {
  struct Column {
    const TableColumn* column;
    std::vector<Cell> cells;
    std::size_t width;
  };
  std::vector<Column> filled;
  std::vector<ColumnSize> sizes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Column column{&all[i], {}, columns(all[i].title)};
    bool empty = true;
    for (const std::vector<std::string>& row : rows) {
      empty = empty && (row[i].empty() || row[i] == "-");
      column.cells.push_back(broken(printable(row[i]), all[i].wrap));
      for (const std::string& line : column.cells.back()) {
        column.width = std::max(column.width, columns(line));
      }
    }
    if (empty) continue;
    sizes.push_back({column.width, all[i].priority});
    filled.push_back(std::move(column));
  }
  std::vector<Column> shown;
  for (const std::size_t i : columns_that_fit(sizes, width)) shown.push_back(std::move(filled[i]));

  std::vector<std::string> lines;
  const auto add = [&](auto text_of) {
    std::string line;
    for (const Column& column : shown) {
      if (!line.empty()) line += "  ";
      line += padded(text_of(column), column.width, column.column->right);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  };
  add([](const Column& column) { return column.column->title; });
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::size_t height = 1;
    for (const Column& column : shown) height = std::max(height, column.cells[row].size());
    for (std::size_t n = 0; n < height; ++n) {
      add([&](const Column& column) {
        const Cell& cell = column.cells[row];
        return n < cell.size() ? cell[n] : std::string();
      });
    }
  }
  return lines;
}

}  // namespace sterna::launcher
