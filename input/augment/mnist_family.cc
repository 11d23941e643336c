// mnist (TernGrad's lenet_preprocessing.py): the picture's middle at its own size, from black = -1
// to white = 1; nothing is drawn, and training and evaluation are the same.
#include "input/augment/cut.h"
#include "input/augment/family.h"
#include "input/augment/family_parts.h"
#include "input/pictures/decode.h"

namespace sterna::input {

namespace {

PictureShape mnist_shape(const PictureShape& data) {
  if (data.rows != 0 && data.columns != 0) return data;
  return square_of(28, data);
}

Result<void> evaluate_mnist(const EncodedPicture& picture, const FamilyOptions& options,
                            const Prepared& into) {
  STERNA_ASSIGN(const PictureShape from, shape_of(picture, options.most_pixels));
  center_on_grey(into);
  const PictureShape& shape = options.shape;
  return cut(picture,
             {central_window(from.rows, shape.rows), central_window(from.columns, shape.columns)},
             shape, options.most_pixels, into.pixels);
}

Result<void> train_mnist(const EncodedPicture& picture, std::span<const Box> /*boxes*/,
                         Draws& /*draws*/, const FamilyOptions& options, const Prepared& into) {
  return evaluate_mnist(picture, options, into);
}

}  // namespace

extern constexpr Family kMnistFamily{"mnist", mnist_shape, train_mnist, evaluate_mnist};

}  // namespace sterna::input
