// What an operation throws where something outside the program is at fault: a device that has
// failed, memory that is not there, a layer that the backend lacks. Net turns it into its error.
#pragma once

#include <stdexcept>
#include <utility>

#include "runtime/base/result.h"

namespace sterna::nets {

class BackendFailure final : public std::runtime_error {
 public:
  explicit BackendFailure(Error error)
      : std::runtime_error(error.message), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// The value, or the error thrown.
template <class T>
T must(Result<T> result) {
  if (!result) throw BackendFailure(result.error());
  return std::move(result).value();
}
inline void must(const Result<void>& result) {
  if (!result) throw BackendFailure(result.error());
}

}  // namespace sterna::nets
