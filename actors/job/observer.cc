#include "actors/job/observer.h"
#include "runtime/message/known_enum.h"

namespace sterna::actors {
namespace {

void put(schema::Traffic::Builder wire, const Traffic& traffic) {
  wire.setBytesUp(traffic.bytes_up);
  wire.setBytesDown(traffic.bytes_down);
  wire.setBytesBeforeBackwardEnded(traffic.bytes_before_backward_ended);
  wire.setGradientBytes(traffic.gradient_bytes);
  wire.setGradientElements(traffic.gradient_elements);
  wire.setTernarizedBytes(traffic.ternarized_bytes);
  wire.setTernarizedElements(traffic.ternarized_elements);
  wire.setParameterBytes(traffic.parameter_bytes);
  wire.setParameterElements(traffic.parameter_elements);
  wire.setNonzeroElements(traffic.nonzero_elements);
  wire.setMeasuredElements(traffic.measured_elements);
  wire.setSaturatedElements(traffic.saturated_elements);
}

Traffic get(schema::Traffic::Reader wire) {
  return {.bytes_up = wire.getBytesUp(),
          .bytes_down = wire.getBytesDown(),
          .bytes_before_backward_ended = wire.getBytesBeforeBackwardEnded(),
          .gradient_bytes = wire.getGradientBytes(),
          .gradient_elements = wire.getGradientElements(),
          .ternarized_bytes = wire.getTernarizedBytes(),
          .ternarized_elements = wire.getTernarizedElements(),
          .parameter_bytes = wire.getParameterBytes(),
          .parameter_elements = wire.getParameterElements(),
          .nonzero_elements = wire.getNonzeroElements(),
          .measured_elements = wire.getMeasuredElements(),
          .saturated_elements = wire.getSaturatedElements()};
}

void put(schema::TensorTotals::Builder wire, const TensorTotals& totals) {
  wire.setTensor(totals.tensor);
  wire.setCodec(totals.codec);
  wire.setSteps(totals.steps);
  wire.setPushes(totals.pushes);
  wire.setElements(totals.elements);
  wire.setBytesUp(totals.bytes_up);
  wire.setBytesDown(totals.bytes_down);
  wire.setTernarized(totals.ternarized);
  wire.setNonzero(totals.nonzero);
  wire.setMeasured(totals.measured);
  wire.setSaturated(totals.saturated);
  wire.setEncodeSeconds(totals.encode_seconds);
  wire.setDecodeSeconds(totals.decode_seconds);
  wire.setExchangeSeconds(totals.exchange_seconds);
}

TensorTotals get(schema::TensorTotals::Reader wire) {
  return {.tensor = wire.getTensor(),
          .codec = wire.getCodec(),
          .steps = wire.getSteps(),
          .pushes = wire.getPushes(),
          .elements = wire.getElements(),
          .bytes_up = wire.getBytesUp(),
          .bytes_down = wire.getBytesDown(),
          .ternarized = wire.getTernarized(),
          .nonzero = wire.getNonzero(),
          .measured = wire.getMeasured(),
          .saturated = wire.getSaturated(),
          .encode_seconds = wire.getEncodeSeconds(),
          .decode_seconds = wire.getDecodeSeconds(),
          .exchange_seconds = wire.getExchangeSeconds()};
}

}  // namespace

TensorTotals& TensorTotals::operator+=(const TensorTotals& other) {
  steps += other.steps;
  pushes += other.pushes;
  bytes_up += other.bytes_up;
  bytes_down += other.bytes_down;
  ternarized += other.ternarized;
  nonzero += other.nonzero;
  measured += other.measured;
  saturated += other.saturated;
  encode_seconds += other.encode_seconds;
  decode_seconds += other.decode_seconds;
  exchange_seconds += other.exchange_seconds;
  return *this;
}

void Progress::encode(Wire::Builder wire, WireWriter&) const {
  wire.setWorker(worker);
  wire.setStep(step);
  wire.setLoss(loss);
  wire.setExamples(examples);
  wire.setSeconds(seconds);
  put(wire.initTraffic(), traffic);
}

Result<Progress> Progress::decode(Wire::Reader wire, WireReader&) {
  return Progress{.worker = wire.getWorker(),
                  .step = wire.getStep(),
                  .loss = wire.getLoss(),
                  .examples = wire.getExamples(),
                  .seconds = wire.getSeconds(),
                  .traffic = get(wire.getTraffic())};
}

void Evaluated::encode(Wire::Builder wire, WireWriter&) const {
  wire.setStep(step);
  wire.setPrecisionAt1(precision_at_1);
  wire.setLoss(loss);
  wire.setExamples(examples);
}

Result<Evaluated> Evaluated::decode(Wire::Reader wire, WireReader&) {
  return Evaluated{.step = wire.getStep(),
                   .precision_at_1 = wire.getPrecisionAt1(),
                   .loss = wire.getLoss(),
                   .examples = wire.getExamples()};
}

void WorkerDone::encode(Wire::Builder wire, WireWriter&) const {
  wire.setWorker(worker);
  wire.setSteps(steps);
  wire.setLoss(loss);
  wire.setSeconds(seconds);
  wire.setMedianStepSeconds(median_step_seconds);
  put(wire.initTraffic(), traffic);
  auto list = wire.initTensors(static_cast<unsigned>(tensors.size()));
  for (unsigned i = 0; i < list.size(); ++i) put(list[i], tensors[i]);
}

Result<WorkerDone> WorkerDone::decode(Wire::Reader wire, WireReader&) {
  WorkerDone done{.worker = wire.getWorker(),
                  .steps = wire.getSteps(),
                  .loss = wire.getLoss(),
                  .seconds = wire.getSeconds(),
                  .median_step_seconds = wire.getMedianStepSeconds(),
                  .traffic = get(wire.getTraffic())};
  for (const auto tensor : wire.getTensors()) {
    if (!known_enum(tensor.getCodec())) {
      return Error{Errc::malformed, "an unknown codec"};
    }
    done.tensors.push_back(get(tensor));
  }
  return done;
}

void JobFinished::encode(Wire::Builder wire, WireWriter&) const {
  wire.setParametersSha256(parameters_sha256);
  wire.setWeights(weights);
  wire.setParameters(parameters);
}

Result<JobFinished> JobFinished::decode(Wire::Reader wire, WireReader&) {
  return JobFinished{.parameters_sha256 = wire.getParametersSha256(),
                     .weights = wire.getWeights(),
                     .parameters = wire.getParameters()};
}

}  // namespace sterna::actors
