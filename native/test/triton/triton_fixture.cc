#include "test/triton/triton_fixture.h"

#include <atomic>
#include <chrono>

namespace nereid::test {
namespace {

uint64_t NextLoad() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1);
}

std::string Config(const PluginModelSettings& settings) {
  return R"({"name":")" + settings.name + R"(","backend":"probe","max_batch_size":)" +
         std::to_string(settings.max_batch_size) +
         R"(,"input":[{"name":"INPUT0","data_type":"TYPE_INT32","dims":[-1]}],"output":)" +
         settings.outputs + "}";
}

std::string Instances(const PluginModelSettings& settings) {
  std::string json;
  for (uint32_t i = 0; i < settings.instance_count + settings.passive_count; ++i) {
    const bool passive = i >= settings.instance_count;
    json += (i == 0 ? R"({"name":")" : R"(,{"name":")") + settings.name +
            (passive ? "_passive_" : "_0_") + std::to_string(i) +
            R"(","kind":"KIND_CPU","device":0,"host_policy":"cpu","profiles":)" +
            settings.profiles + R"(,"passive":)" + (passive ? "true" : "false") +
            R"(,"secondary_devices":)" + settings.secondary + "}";
  }
  return "[" + json + "]";
}

nrd_tensor_spec Spec(std::string_view name, int64_t dim, uint32_t flags = 0) {
  nrd_tensor_spec spec{};
  spec.name = View(name);
  spec.datatype = NRD_TYPE_INT32;
  spec.rank = 1;
  spec.flags = flags;
  spec.dims[0] = dim;
  return spec;
}

int32_t Load(Plugin& plugin, const PluginModelSettings& settings, uint64_t load,
             nrd_model** model_out, Errors& errors) {
  const std::string number = std::to_string(load);
  const std::string config = Config(settings);
  const std::string instances = Instances(settings);
  std::vector<nrd_parameter> parameters = {
      {View("nereid.load"), View(number)},
      {View("nereid.config"), View(config)},
      {View("nereid.directory"), View(NEREID_TEST_FOLDER)},
      {View("nereid.auto_complete"), View(settings.auto_complete ? "1" : "0")},
      {View("nereid.instances"), View(instances)},
      {View("nereid.host_policies"), View(R"({"cpu":{"numa-node":"0"}})")},
  };
  for (const auto& [key, value] : plugin.parameters()) {
    parameters.push_back({View(key), View(value)});
  }
  const nrd_tensor_spec inputs[] = {Spec("INPUT0", -1), Spec("INPUT_STATE", 1, NRD_SPEC_HIDDEN)};
  const nrd_tensor_spec outputs[] = {Spec("OUTPUT0", -1), Spec("OUTPUT_STATE", 1, NRD_SPEC_HIDDEN)};
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = settings.flags;
  options.name = View(settings.name);
  options.version = View("1");
  options.backend = &plugin.table();
  options.inputs = inputs;
  options.outputs = outputs;
  options.input_count = options.output_count = settings.with_state ? 2 : 1;
  options.max_batch_size = settings.max_batch_size;
  options.instance_count = settings.instance_count;
  options.max_queue_delay_ns = settings.max_queue_delay_ns;
  options.parameters = parameters.data();
  options.parameter_count = parameters.size();
  options.sequences = settings.sequences;
  // The backend completes the configuration first, as in the control plane.
  nrd_source* source = nullptr;
  const int32_t code =
      nrd_source_open(PluginHost::Get().runtime(), &options, &source, errors.out());
  if (code != NRD_OK) {
    return code;
  }
  nrd_batcher batcher{};
  if (nrt_model_batcher(load, &batcher, errors.out()) == NRD_OK) {
    options.batcher = &batcher;
  }
  return nrd_model_load(PluginHost::Get().runtime(), &options, source, model_out, errors.out());
}

nrd_value ValueFrom(const std::string& name, const Value& value) {
  nrd_value out{};
  out.name = View(name);
  out.kind = static_cast<int32_t>(value.index());  // the variant's order is that of NRD_VALUE_*
  if (const auto* text = std::get_if<std::string>(&value)) {
    out.text = View(*text);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    out.number = *number;
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    out.number = *truth ? 1 : 0;
  } else {
    out.real = std::get<double>(value);
  }
  return out;
}

}  // namespace

Value ValueOf(const nrd_value& value) {
  switch (value.kind) {
    case NRD_VALUE_STRING:
      return Text(value.text);
    case NRD_VALUE_INT:
      return value.number;
    case NRD_VALUE_BOOL:
      return value.number != 0;
    default:
      return value.real;
  }
}

int32_t PluginModel::Load(Plugin& plugin, const PluginModelSettings& settings,
                          nrd_model** model_out) {
  Errors errors;
  return test::Load(plugin, settings, NextLoad(), model_out, errors);
}

PluginModel::PluginModel(Plugin& plugin, const PluginModelSettings& settings) : load_(NextLoad()) {
  Errors errors;
  REQUIRE_MESSAGE(test::Load(plugin, settings, load_, &model_, errors) == NRD_OK, errors.message());
}

PluginModel::~PluginModel() {
  Errors errors;
  CHECK_MESSAGE(nrd_model_drain(model_, 0, errors.out()) == NRD_OK, errors.message());
  nrd_model_release(model_);
}

nrd_model_stats PluginModel::stats() {
  nrd_model_stats stats{};
  stats.struct_size = sizeof(stats);
  nrd_model_stats_read(model_, &stats);
  return stats;
}

std::string PluginModel::Refusal(Plugin& plugin, const PluginModelSettings& settings) {
  Errors errors;
  nrd_model* model = nullptr;
  REQUIRE(test::Load(plugin, settings, NextLoad(), &model, errors) != NRD_OK);
  return errors.message();
}

PluginRequest::PluginRequest(PluginModel& model, const std::string& what,
                             std::vector<int32_t> elements)
    : elements_(std::move(elements)) {
  Errors errors;
  REQUIRE_MESSAGE(nrd_request_acquire(model.get(), &record_, errors.out()) == NRD_OK,
                  errors.message());
  nrd_tensor& input = record_->inputs[0];
  input.datatype = NRD_TYPE_INT32;
  input.rank = 2;
  input.shape[0] = 1;
  input.shape[1] = static_cast<int64_t>(elements_.size());
  input.byte_size = elements_.size() * sizeof(int32_t);
  input.data = elements_.data();
  input.flags = NRD_TENSOR_SELECTED;
  With("do", what);
}

PluginRequest::~PluginRequest() { nrd_request_release(record_); }

PluginRequest& PluginRequest::With(const std::string& name, Value value) {
  given_.emplace_back(name, std::move(value));
  return *this;
}

void PluginRequest::Submit() {
  values_.clear();
  for (const auto& [name, value] : given_) {
    values_.push_back(ValueFrom(name, value));
  }
  record_->values = values_.data();
  record_->value_count = static_cast<uint32_t>(values_.size());
  nrd_request_receive(record_, &receiver_);
  if (nrd_request_submit(record_) != NRD_PENDING) {
    Complete(this, record_);
  }
}

int32_t PluginRequest::Wait() {
  std::unique_lock lock(mutex_);
  REQUIRE(changed_.wait_for(lock, std::chrono::seconds(30), [this] { return done_; }));
  return record_->status;
}

std::string PluginRequest::message() const {
  return {record_->error->message, record_->error->message_size};
}

const std::vector<Reply>& PluginRequest::replies() {
  const std::lock_guard lock(mutex_);
  return replies_;
}

void PluginRequest::CheckReport() {
  REQUIRE_MESSAGE(Wait() == NRD_OK, message());
  REQUIRE(replies().size() == 1);
  const auto& values = replies()[0].values;
  REQUIRE(values.contains("wrong"));
  CHECK(std::get<std::string>(values.at("wrong")) == "");
  CHECK(std::get<int64_t>(values.at("checks")) > 0);
}

void PluginRequest::Keep(const nrd_tensor* outputs, uint32_t count) {
  Reply reply;
  for (uint32_t i = 0; i < record_->response_value_count; ++i) {
    const nrd_value& value = record_->response_values[i];
    reply.values[Text(value.name)] = ValueOf(value);
  }
  if (count > 0 && outputs[0].data != nullptr) {
    const auto* data = static_cast<const int32_t*>(outputs[0].data);
    reply.output.assign(data, data + outputs[0].byte_size / sizeof(int32_t));
  }
  if (record_->status != NRD_OK) {
    reply.error = message();
  }
  if (reply.values.empty() && reply.output.empty() && reply.error.empty()) {
    return;  // the end of a stream
  }
  const std::lock_guard lock(mutex_);
  replies_.push_back(std::move(reply));
}

void PluginRequest::Respond(void* self, nrd_request* /*request*/, nrd_tensor* outputs,
                            uint32_t count) {
  static_cast<PluginRequest*>(self)->Keep(outputs, count);
}

void PluginRequest::Complete(void* self, nrd_request* request) {
  auto* const me = static_cast<PluginRequest*>(self);
  if (request->status == NRD_OK) {
    me->Keep(request->outputs, request->output_count);
  }
  const std::lock_guard lock(me->mutex_);
  me->done_ = true;
  me->changed_.notify_all();
}

}  // namespace nereid::test
