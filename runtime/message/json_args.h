// An actor's arguments as people write them: JSON whose keys are the field names of the schema. For
// programs that the one who writes them was not compiled with.
#pragma once

#include <capnp/schema.h>

#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna {

/// A message of that schema as pack() gives it. A key that is left out has the schema's default.
/// Fails (invalid_argument), and names the key, on one that the schema does not have, on a value of
/// another type, and on one out of its type's range. An enum's value is its name; Data is text.
Result<Bytes> pack_json(capnp::StructSchema schema, std::string_view text);

/// A type as schemas write it: "Int64", "Text", "List(UInt32)", "Rule" (an enum's or struct's own).
std::string type_name(capnp::Type type);

}  // namespace sterna
