// Tables of text for a terminal or a pipe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sterna::launcher {

struct TableColumn {
  std::string title;
  bool right = false;    ///< numbers
  std::size_t wrap = 0;  ///< a longer cell goes on below, broken after ", "; 0: never
};

/// The lines of a table: titles, then one or more per row, two blanks between columns. A row has a
/// cell per column. Columns with nothing but "" or "-" are left out. Cells are made printable().
std::vector<std::string> text_table(const std::vector<TableColumn>& columns,
                                    const std::vector<std::vector<std::string>>& rows);

}  // namespace sterna::launcher
