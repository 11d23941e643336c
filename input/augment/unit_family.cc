// unit (as Schlag's tutorial reads MNIST): as mnist, but from black = 0 to white = 1.
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

Result<void> evaluate_unit(const EncodedPicture& picture, const FamilyOptions& options,
                           const Prepared& into) {
  keep_from_0_to_1(into);
  return cut_middle(picture, options, into);
}

Result<void> train_unit(const EncodedPicture& picture, std::span<const Box> /*boxes*/,
                        Draws& /*draws*/, const FamilyOptions& options, const Prepared& into) {
  return evaluate_unit(picture, options, into);
}

}  // namespace

extern constexpr Family kUnitFamily{"unit", own_shape, train_unit, evaluate_unit, true};

}  // namespace sterna::input
