// IDX, the format of MNIST: a magic number (two zero bytes, the element type, the number of
// dimensions), the dimensions as big-endian 32-bit numbers, then the elements, row-major.
//
// A file is trusted with nothing: the size that its header declares is checked against the size
// that it has before anything is allocated. Errors name the file and say what to do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "input/formats/dataset.h"
#include "input/formats/format.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// IDX files of MNIST's names, as load_mnist reads them.
extern const Format kIdx;

/// Images of one byte a pixel: `pixels` holds count x rows x columns.
struct IdxImages {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::uint8_t> pixels;
};

/// The names of MNIST's two files of a split, without ".gz".
struct IdxNames {
  const char* images;
  const char* labels;
};
IdxNames mnist_names(Split split);

/// Reads an images file (three dimensions of unsigned bytes), plain or gzip.
Result<IdxImages> read_idx_images(const std::filesystem::path& path);

/// Reads a labels file (one dimension of unsigned bytes); each label must be below `classes`.
Result<std::vector<std::uint16_t>> read_idx_labels(const std::filesystem::path& path,
                                                   std::size_t classes);

/// One split of MNIST, or of any data set in its form (28 x 28 pixels, 10 classes), from the files
/// [train|t10k]-{images-idx3,labels-idx1}-ubyte[.gz] of `dir`. Where both forms of a file are
/// there, the plain one is read.
Result<Dataset> load_mnist(const std::filesystem::path& dir, Split split);

/// What load_mnist can be expected to read, at a glance: headers, declared against actual sizes,
/// and that images and labels are as many. Only files that look wrong are read whole. Errors as
/// load_mnist's.
Result<SourceFacts> glance_at_mnist(const std::filesystem::path& dir, Split split,
                                    const DataOptions& options = {});

/// Writes plain IDX files, atomically. `pixels` holds count x rows x columns bytes. A label above
/// 255 is `invalid_argument`: the format's have one byte.
Result<void> write_idx_images(const std::filesystem::path& path,
                              std::span<const std::uint8_t> pixels, std::size_t rows,
                              std::size_t columns);
Result<void> write_idx_labels(const std::filesystem::path& path,
                              std::span<const std::uint16_t> labels);

}  // namespace sterna::input
