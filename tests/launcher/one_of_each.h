// How most cluster files of tests begin.
#pragma once

#include <string>

namespace sterna::launcher {

/// One actor of each role; [job] is to follow.
inline const std::string kOneOfEach = R"(format = 1
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
)";

}  // namespace sterna::launcher
