// What the tests of a device's operations share: each is held against its definition in double
// precision, on the CPU, on the host's device and, where one is demanded, on a GPU.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "nets/backend/memory.h"
#include "nets/make_backend.h"
#include "tests/nets/device/device_fixture.h"
#include "tests/nets/device/precisions.h"

namespace sterna::nets {

using reference::Values;

inline constexpr Layout kImages = Layout::channels_last;

/// A backend, and tensors in its memory. All values are in row-major order.
class Side {
 public:
  explicit Side(const BackendOptions& options)
      : backend(make_backend(options).value()), element(options.precision) {}
  ~Side() { backend->memory().finish(); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// Of the precision's elements.
  Tensor& activation(const Shape& shape, Layout layout, const Values& values) {
    return made(shape, layout, element, values);
  }
  /// Of fp32.
  Tensor& parameter(const Shape& shape, const Values& values) {
    return made(shape, Layout::row_major, Element::fp32, values);
  }
  /// To be written: what other tensors may have left there.
  Tensor& activation(const Shape& shape, Layout layout) {
    return activation(shape, layout, Values(element_count(shape), 7));
  }
  Tensor& parameter(const Shape& shape) {
    return parameter(shape, Values(element_count(shape), 7));
  }

  void write(const Values& values, Tensor& to) const {
    std::vector<float> in_place(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      in_place[place(to, i)] = static_cast<float>(values[i]);
    }
    backend->memory().write(in_place, to, 0);
  }
  Values read(const Tensor& from) const {
    std::vector<float> in_place(from.size());
    backend->memory().read(from, 0, in_place);
    Values values(from.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = in_place[place(from, i)];
    return values;
  }

  std::unique_ptr<Backend> backend;
  Element element;  ///< for specs

 private:
  static std::size_t place(const Tensor& tensor, std::size_t i) {
    return tensor.layout() == Layout::channels_last ? channels_last(tensor.shape(), i) : i;
  }
  Tensor& made(const Shape& shape, Layout layout, Element of, const Values& values) {
    Tensor& tensor = tensors_.emplace_back(Tensor::unbound(shape, layout, of));
    tensor.bind(backend->memory().allocate(tensor.bytes()));
    write(values, tensor);
    return tensor;
  }

  std::deque<Tensor> tensors_;
};

/// Numbers in [-1, 1) that fp32 holds, the same each time.
class Drawn {
 public:
  Values operator()(const Shape& shape, double center = 0) {
    Values values = random_values(element_count(shape), 1, random_);
    for (double& value : values) value = static_cast<float>(value + center);
    return values;
  }
  /// That bf16 holds, too: of what decides which way a gradient goes, in each precision alike.
  Values bf16s(const Shape& shape, double center = 0) {
    return rounded_to_bf16((*this)(shape, center));
  }

 private:
  SeededRandom random_{11};
};

/// Of what a precision may round, the operands of products and convolutions.
enum class Rounding {
  none,     ///< nothing is multiplied so
  visible,  ///< the error is more than that of fp32
  hidden,   ///< of a single number, or so many of one sign that their errors cancel
};

/// What an operation is to write.
struct Expected {
  std::string name;
  Values values;
  Rounding rounding = Rounding::none;
};

using Outputs = std::vector<Values>;

struct OperationCase {
  std::string name;
  std::vector<Expected> expected;
  std::function<Outputs(Side&)> run;  ///< as many outputs
  double fp32_error = 1e-5;           ///< at most
};

/// A suite whose figures are the worst errors of each precision, `worst_fp32_error` and so on, and
/// whose they are: of the GPU where there is one, else of the host's device by libraries.
class DeviceOperations : public testing::Test {
 protected:
  static void SetUpTestSuite() { gpu_ = gpu(); }
  static void TearDownTestSuite() {
    for (const auto& [precision, worst] : worst_) {
      RecordProperty("worst_" + precision + "_error", fmt::format("{:.3g}", worst.error));
      RecordProperty("worst_" + precision + "_error_of", worst.of);
    }
    worst_.clear();
    gpu_ = nullptr;
  }

  /// Runs it everywhere.
  static void expect_the_reference(const OperationCase& one) {
    Side cpu({});
    static_cast<void>(judge(one, one.run(cpu), kPrecisions[0], "the CPU"));
    expect_on_the_host(one, false);
    expect_on_the_host(one, true);
    if (gpu_ == nullptr) return;
    Outputs plain;
    for (const Precision& precision : kPrecisions) {
      const Outputs found = run_on(gpu_, precision, one);
      note(precision, one, judge(one, found, precision, "a GPU"));
      EXPECT_EQ(run_on(gpu_, precision, one), found) << one.name << " on a GPU, again";
      expect_unrounded(one, found, precision, plain);
    }
  }

  static Outputs run_on(std::shared_ptr<kernels::Device> device, const Precision& precision,
                        const OperationCase& one) {
    Side side(options_of(precision, std::move(device)));
    return one.run(side);
  }
  /// Of each output.
  static std::vector<double> errors_of(const OperationCase& one, const Outputs& found) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < found.size(); ++i) {
      errors.push_back(distance(found[i], one.expected.at(i).values));
    }
    return errors;
  }
  static const std::shared_ptr<kernels::Device>& demanded() { return gpu_; }

 private:
  struct Worst {
    double error = 0;
    std::string of;
  };

  static std::vector<double> judge(const OperationCase& one, const Outputs& found,
                                   const Precision& precision, const std::string& where) {
    EXPECT_EQ(found.size(), one.expected.size()) << one.name;
    const double most = precision.least == 0 ? one.fp32_error : precision.most;
    std::vector<double> errors = errors_of(one, found);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      EXPECT_LE(errors[i], most) << one.name << ": " << one.expected[i].name << " in "
                                 << precision.name << " on " << where;
    }
    return errors;
  }

  static void expect_on_the_host(const OperationCase& one, bool libraries) {
    const std::string where = libraries ? "the host's device by libraries" : "the host's device";
    Outputs plain;
    for (const Precision& precision : kPrecisions) {
      Outputs first;
      for (kernels::HostDeviceOptions options :
           {kernels::HostDeviceOptions{.late = false}, {.seed = 1}, {.seed = 2, .hidden = true}}) {
        options.libraries = libraries;
        const Outputs found = run_on(kernels::make_host_device(options), precision, one);
        if (first.empty()) first = found;
        EXPECT_EQ(found, first) << one.name << " in " << precision.name << ", seed "
                                << options.seed;
      }
      const std::vector<double> errors = judge(one, first, precision, where);
      if (libraries) {
        for (std::size_t i = 0; i < errors.size(); ++i) {
          if (one.expected[i].rounding != Rounding::visible || precision.least == 0) continue;
          EXPECT_GT(errors[i], precision.least) << one.name << ": " << one.expected[i].name
                                                << " is not rounded to " << precision.name;
        }
        if (gpu_ == nullptr) note(precision, one, errors);
      } else if (precision.element == Element::fp32 && &precision != kPrecisions) {
        EXPECT_EQ(first, plain) << one.name << " without libraries in " << precision.name;
      }
      expect_unrounded(one, first, precision, plain);
    }
  }

  /// What multiplies nothing has the bits of fp32, which are kept in `plain`, unless activations
  /// are rounded.
  static void expect_unrounded(const OperationCase& one, const Outputs& found,
                               const Precision& precision, Outputs& plain) {
    if (plain.empty()) plain = found;
    if (precision.element == Element::bf16) return;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (one.expected[i].rounding != Rounding::none) continue;
      EXPECT_EQ(found[i], plain[i])
          << one.name << ": " << one.expected[i].name << " is rounded to " << precision.name;
    }
  }

  static void note(const Precision& precision, const OperationCase& one,
                   const std::vector<double>& errors) {
    Worst& worst = worst_[precision.name];
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (errors[i] < worst.error) continue;
      worst = {errors[i], one.name + ": " + one.expected[i].name};
    }
  }

  static inline std::shared_ptr<kernels::Device> gpu_;
  static inline std::map<std::string, Worst> worst_;
};

}  // namespace sterna::nets
