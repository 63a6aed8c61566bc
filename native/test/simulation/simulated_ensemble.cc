#include "test/simulation/simulated_ensemble.h"

#include <algorithm>
#include <utility>

#include "core/ensemble/load_ensemble.h"

namespace nereid::simulation {
namespace {

constexpr uint64_t kCacheBytes = 1 << 20;
constexpr size_t kMostCalls = 12;
constexpr uint64_t kInputs = 8;  // so few that many requests are alike

nrd_tensor_spec OneNumber(const char* name) {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString(name);
  spec.datatype = NRD_TYPE_INT64;
  spec.rank = 1;
  spec.dims[0] = 1;
  return spec;
}

}  // namespace

// Takes the place of the scheduler for the model of a step.
class SimulatedEnsemble::Runner final : public RequestRunner {
 public:
  Runner(SimulatedEnsemble& owner, uint32_t step) : owner_(owner), step_(step) {}

  int32_t Submit(Request& request) override { return owner_.Submit(step_, request); }
  bool MayAnswerAtOnce() override { return true; }
  int32_t WarmUp(Request& /*request*/) override { return NRD_UNIMPLEMENTED; }
  int32_t Cancel(Request& request) override { return owner_.CancelPart(request); }
  bool Drain(int64_t /*deadline_ns*/) override { return true; }
  void Stop() override {}
  void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) override {
    *pending_out = *executing_out = 0;
  }

 private:
  SimulatedEnsemble& owner_;
  const uint32_t step_;
};

SimulatedEnsemble::SimulatedEnsemble(SimulatedWorld& world) : world_(world) {
  nrd_runtime_options options{};
  options.struct_size = sizeof(options);
  options.pool_byte_limit = 1 << 26;
  options.cache_byte_limit = kCacheBytes;
  options.complete = OnComplete;
  options.complete_context = this;
  options.respond = OnRespond;
  options.respond_context = this;
  runtime_ = std::make_unique<Runtime>(options);
  Load();
}

SimulatedEnsemble::~SimulatedEnsemble() = default;

// ---- The graph ----

void SimulatedEnsemble::Load() {
  ++generation_;
  closing_ = false;
  salt_ = static_cast<int64_t>(world_.chance.Below(1'000'000));
  execution_ns_ = world_.chance.Spread(1'000, 1'000'000);
  most_inflight_ = static_cast<uint32_t>(world_.chance.Below(4));
  ChooseSteps();
  LoadSteps();
  LoadEnsemble();
  world_.In(1, Happening::kArrival, this, 0, generation_);
  world_.In(world_.chance.Spread(execution_ns_ * 10, execution_ns_ * 1'000), Happening::kUnload,
            this, 0, generation_);
}

// The graph has parallel steps, steps in a chain, or two behind one or two decoupled steps.
void SimulatedEnsemble::ChooseSteps() {
  const auto one = [](uint32_t value) { return SimulatedStep{.inputs = {value}}; };
  const auto two = [](uint32_t a, uint32_t b) { return SimulatedStep{.inputs = {a, b}}; };
  const auto many = [](uint32_t value) {
    return SimulatedStep{.inputs = {value}, .decoupled = true};
  };
  switch (world_.chance.Below(5)) {
    case 0:
      steps_ = {one(0), one(0), two(1, 2)};
      break;
    case 1:
      steps_ = {one(0), one(0), one(0), two(1, 2), two(4, 3)};
      break;
    case 2:
      steps_ = {many(0), one(1)};
      break;
    case 3:
      steps_ = {one(0), many(1), one(2), one(2), two(3, 4)};
      break;
    default:
      steps_ = {many(0), one(1), many(2), one(3)};
      break;
  }
  decoupled_ = static_cast<uint32_t>(std::count_if(
      steps_.begin(), steps_.end(), [](const SimulatedStep& step) { return step.decoupled; }));
}

void SimulatedEnsemble::LoadSteps() {
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    ModelConfig config;
    config.name = "step " + std::to_string(i);
    config.version = "1";
    for (size_t j = 0; j < steps_[i].inputs.size(); ++j) {
      config.inputs.push_back(
          {.name = "IN" + std::to_string(j), .datatype = NRD_TYPE_INT64, .dims = {1}});
    }
    config.outputs.push_back({.name = "OUT", .datatype = NRD_TYPE_INT64, .dims = {1}});
    config.visible_inputs = static_cast<uint32_t>(config.inputs.size());
    config.visible_outputs = 1;
    config.decoupled = steps_[i].decoupled;
    config.use_cache = !config.decoupled && world_.chance.OneIn(3);
    models_.push_back(Model::Around(
        *runtime_, std::move(config),
        [this, i](const ModelConfig&, ModelStats&) { return std::make_unique<Runner>(*this, i); }));
  }
}

void SimulatedEnsemble::LoadEnsemble() {
  std::vector<std::vector<nrd_link>> inputs;
  std::vector<nrd_link> outputs;
  for (const SimulatedStep& step : steps_) {
    inputs.emplace_back();
    for (const uint32_t value : step.inputs) {
      inputs.back().push_back({static_cast<uint32_t>(inputs.back().size()), value});
    }
    outputs.push_back({0, static_cast<uint32_t>(outputs.size() + 1)});
  }
  std::vector<nrd_step> links;
  for (size_t i = 0; i < steps_.size(); ++i) {
    links.push_back({reinterpret_cast<nrd_model*>(models_[i].get()), inputs[i].data(), &outputs[i],
                     static_cast<uint32_t>(inputs[i].size()), 1});
  }
  const nrd_tensor_spec input = OneNumber("IN");
  const nrd_tensor_spec output = OneNumber("OUT");
  const auto result = static_cast<uint32_t>(steps_.size());
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = world_.chance.OneIn(3) ? uint32_t{NRD_MODEL_NO_INLINE} : 0U;
  if (decoupled_ == 0 && world_.chance.OneIn(3)) {
    options.flags |= NRD_MODEL_RESPONSE_CACHE;
  }
  options.name = AsNrdString("ensemble");
  options.version = AsNrdString("1");
  options.inputs = &input;
  options.outputs = &output;
  options.input_count = options.output_count = 1;
  options.steps = links.data();
  options.step_count = static_cast<uint32_t>(links.size());
  options.output_values = &result;
  options.value_count = result + 1;
  options.max_inflight_requests = most_inflight_;
  Require(nereid::LoadEnsemble(*runtime_, options, &ensemble_).ok(), "an ensemble can be loaded");
}

// Unloading fails unfinished requests as soon as the ensemble's steps release them.
void SimulatedEnsemble::Unload() {
  closing_ = true;
  (void)ensemble_->Drain(1);
}

int64_t SimulatedEnsemble::Compute(uint32_t step, const std::vector<int64_t>& values,
                                   uint32_t response) const {
  int64_t sum = salt_ + step * 7 + response * int64_t{13};
  for (const int64_t value : values) {
    sum = (sum * 31 + value) % 1'000'003;
  }
  return sum;
}

// Steps behind a decoupled step run once for each of its responses, in their order.
void SimulatedEnsemble::Expect(uint32_t step, std::vector<int64_t>* values,
                               std::vector<int64_t>* expected) const {
  if (step == steps_.size()) {
    expected->push_back(values->back());
    return;
  }
  std::vector<int64_t> taken;
  for (const uint32_t value : steps_[step].inputs) {
    taken.push_back((*values)[value]);
  }
  const uint32_t responses = steps_[step].decoupled ? ResponsesFor(taken.front()) : 1;
  for (uint32_t response = 0; response < responses; ++response) {
    values->push_back(Compute(step, taken, response));
    Expect(step + 1, values, expected);
    values->pop_back();
  }
}

// ---- Clients ----

void SimulatedEnsemble::Arrive() {
  if (closing_ || calm_) {
    return;
  }
  world_.In(world_.chance.Spread(1, execution_ns_), Happening::kArrival, this, 0, generation_);
  if (active_.size() >= kMostCalls) {
    return;
  }
  SimulatedCall& call = NewCall();
  if (world_.chance.OneIn(8)) {
    world_.In(world_.chance.Spread(1, execution_ns_ * 10), Happening::kCancel, this,
              reinterpret_cast<uint64_t>(&call), call.generation);
  }
  if (ensemble_->Submit(*call.request) != NRD_PENDING) {
    Answered(call);
  }
}

SimulatedCall& SimulatedEnsemble::NewCall() {
  if (unused_calls_.empty()) {
    unused_calls_.push_back(&calls_.emplace_back());
  }
  SimulatedCall& call = *unused_calls_.back();
  unused_calls_.pop_back();
  active_.push_back(&call);
  ++call.generation;
  call.in_flight = true;
  call.input = static_cast<int64_t>(world_.chance.Below(kInputs));
  call.sent = call.parts = 0;
  call.received.clear();
  call.expected.clear();
  std::vector<int64_t> values{call.input};
  Expect(0, &values, &call.expected);
  Require(ensemble_->Acquire(&call.request).ok(), "a loaded ensemble has records");
  nrd_request& record = call.request->record;
  record.tag = reinterpret_cast<uint64_t>(&call);
  record.flags = world_.chance.OneIn(3) ? uint32_t{NRD_REQUEST_NO_INLINE} : 0U;
  record.flags |= world_.chance.OneIn(8) ? uint32_t{NRD_REQUEST_NO_CACHE} : 0U;
  AsOneNumber(&record.inputs[0], &call.input);
  record.inputs[0].flags = NRD_TENSOR_SELECTED;
  return call;
}

void SimulatedEnsemble::Answered(SimulatedCall& call) {
  Require(call.in_flight, "a request to an ensemble is answered twice");
  Require(call.parts == 0, "a request to an ensemble is answered before its steps are");
  const nrd_request& record = call.request->record;
  if (record.status == NRD_OK && record.outputs[0].data != nullptr) {
    call.received.push_back(*static_cast<const int64_t*>(record.outputs[0].data));
  }
  Require(call.received.size() <= call.expected.size() &&
              std::equal(call.received.begin(), call.received.end(), call.expected.begin()),
          "an ensemble answers something else, or in another order");
  Require(record.status != NRD_OK || call.received.size() == call.expected.size(),
          "a response of an ensemble is missing");
  call.in_flight = false;
  std::erase(active_, &call);
  unused_calls_.push_back(&call);
  ++answered_;
  ensemble_->GiveBack(*std::exchange(call.request, nullptr));
}

void SimulatedEnsemble::OnComplete(void* context, const uint64_t* tags, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    static_cast<SimulatedEnsemble*>(context)->Answered(*reinterpret_cast<SimulatedCall*>(tags[i]));
  }
}

void SimulatedEnsemble::OnRespond(void* /*context*/, uint64_t tag, nrd_tensor* outputs,
                                  uint32_t /*count*/) {
  auto& call = *reinterpret_cast<SimulatedCall*>(tag);
  Require(call.in_flight, "a response comes behind the answer");
  if (outputs != nullptr) {
    call.received.push_back(*static_cast<const int64_t*>(outputs[0].data));
  }
}

// ---- What happens ----

void SimulatedEnsemble::Handle(const Event& event) {
  if (event.happening == Happening::kStep) {
    auto& part = *reinterpret_cast<Part*>(event.subject);
    if (part.number == event.generation && part.request != nullptr) {
      GoOn(part);
    }
    return;
  }
  if (event.happening == Happening::kCancel) {
    auto& call = *reinterpret_cast<SimulatedCall*>(event.subject);
    if (call.generation == event.generation && call.in_flight) {
      (void)ensemble_->Cancel(*call.request);
    }
    return;
  }
  if (event.happening == Happening::kReload) {
    if (!ending_) {
      Load();
    }
  } else if (event.generation == generation_ && event.happening == Happening::kArrival) {
    Arrive();
  } else if (event.generation == generation_ && event.happening == Happening::kUnload && !calm_) {
    Unload();
  }
}

void SimulatedEnsemble::SendToWork() {
  if (ensemble_ == nullptr) {
    return;
  }
  for (const SimulatedCall* const call : active_) {
    Require(call->parts > 0, "a request to an ensemble waits for nothing");
  }
  for (Part* const part : std::exchange(stalled_, {})) {
    if (part->request == nullptr) {
      continue;  // it was answered meanwhile
    }
    const SimulatedCall& call = CallOf(*part->request);
    if (part->request->sink->HasRoom()) {
      GoOnSoon(*part);
      continue;
    }
    Require(decoupled_ > 1 || call.sent - call.received.size() >= most_inflight_,
            "a backend waits for room although there is some");
    stalled_.push_back(part);
  }
  if (ending_ && !closing_) {
    Unload();
  }
  if (closing_ && active_.empty()) {
    nrd_model_release(reinterpret_cast<nrd_model*>(std::exchange(ensemble_, nullptr)));
    models_.clear();
    ++generation_;
    Require(runtime_->Unused().ok(), "an ensemble leaves something behind");
    world_.In(1'000, Happening::kReload, this, 0, generation_);
  }
}

}  // namespace nereid::simulation
