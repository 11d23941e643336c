// mnist (TernGrad's lenet_preprocessing.py): the picture's middle at its own size, from black = -1
// to white = 1; nothing is drawn, and training and evaluation are the same.
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

Result<void> evaluate_mnist(const EncodedPicture& picture, const FamilyOptions& options,
                            const Prepared& into) {
  center_on_grey(into);
  return cut_middle(picture, options, into);
}

Result<void> train_mnist(const EncodedPicture& picture, std::span<const Box> /*boxes*/,
                         Draws& /*draws*/, const FamilyOptions& options, const Prepared& into) {
  return evaluate_mnist(picture, options, into);
}

}  // namespace

extern constexpr Family kMnistFamily{"mnist", own_shape, train_mnist, evaluate_mnist, true};

}  // namespace sterna::input
