/* A client of the core that knows nothing but the public header: loads a model with a backend
 * written in C, runs the built-in identity beside it, and leaves nothing behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nereid/nereid.h"

static nrd_error error;

static void expect(int condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "FAILED: %s (last message: %.*s)\n", what, (int)error.message_size,
            error.message);
    exit(1);
  }
}

static nrd_string text(const char* characters) {
  nrd_string string = {characters, strlen(characters)};
  return string;
}

static int32_t open_model(void* context, const nrd_model_options* options, void** state_out,
                          nrd_error* error_out) {
  (void)options;
  (void)error_out;
  *state_out = context;
  return NRD_OK;
}

static int32_t open_instance(void* state, uint32_t index, void** instance_out,
                             nrd_error* error_out) {
  (void)index;
  (void)error_out;
  *instance_out = state;
  return NRD_OK;
}

static void close_nothing(void* handle) { (void)handle; }

/* OUTPUT = 2 * INPUT */
static int32_t execute(void* instance, nrd_batch* batch, nrd_error* error_out) {
  const nrd_tensor* input = &batch->inputs[0];
  void* data = NULL;
  int32_t code = nrd_batch_output(batch, 0, NRD_TYPE_FP32, input->rank, input->shape,
                                  input->byte_size, &data, error_out);
  (void)instance;
  if (code == NRD_OK) {
    const float* from = input->data;
    float* to = data;
    for (uint64_t i = 0; i < input->byte_size / sizeof(float); ++i) {
      to[i] = 2 * from[i];
    }
  }
  return code;
}

static nrd_model* load(nrd_runtime* runtime, const nrd_backend* backend, const char* name) {
  nrd_tensor_spec input;
  nrd_tensor_spec output;
  nrd_model_options options;
  nrd_model* model = NULL;
  memset(&input, 0, sizeof input);
  input.name = text("INPUT");
  input.datatype = NRD_TYPE_FP32;
  input.rank = 1;
  input.dims[0] = -1;
  output = input;
  output.name = text("OUTPUT");
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.name = text(name);
  options.version = text("1");
  options.backend = backend;
  options.inputs = &input;
  options.input_count = 1;
  options.outputs = &output;
  options.output_count = 1;
  options.max_batch_size = 4;
  expect(nrd_model_load(runtime, &options, NULL, &model, &error) == NRD_OK, "load");
  return model;
}

static void infer(nrd_model* model, uint32_t flags, float factor) {
  nrd_request* request = NULL;
  uint32_t input = 99;
  uint32_t output = 99;
  int32_t code;
  expect(nrd_request_acquire(model, &request, &error) == NRD_OK, "acquire");
  expect(nrd_model_input_index(model, "INPUT", 5, &input) == NRD_OK, "input index");
  expect(nrd_model_output_index(model, "OUTPUT", 6, &output) == NRD_OK, "output index");
  expect(nrd_model_input_index(model, "OTHER", 5, &input) == NRD_NOT_FOUND, "unknown input");
  input = 0;
  request->inputs[input].datatype = NRD_TYPE_FP32;
  request->inputs[input].rank = 2;
  request->inputs[input].shape[0] = 1;
  request->inputs[input].shape[1] = 3;
  request->inputs[input].byte_size = 3 * sizeof(float);
  expect(nrd_request_input_alloc(request, input) == NRD_OK, "input_alloc");
  for (int i = 0; i < 3; ++i) {
    ((float*)request->inputs[input].data)[i] = (float)i + 0.5F;
  }
  request->flags = flags;
  code = nrd_request_submit(request);
  expect(code == ((flags & NRD_REQUEST_NO_INLINE) != 0 ? NRD_PENDING : NRD_OK), "submit");
  if (code == NRD_PENDING) {
    code = nrd_request_wait(request, nrd_clock_now_ns() + 10000000000);
  }
  expect(code == NRD_OK, "status");
  for (int i = 0; i < 3; ++i) {
    const float* result = request->outputs[output].data;
    expect(result[i] == ((float)i + 0.5F) * factor, "result");
  }
  nrd_request_release(request);
}

int main(void) {
  nrd_runtime_options options;
  nrd_runtime* runtime = NULL;
  nrd_backend doubling;
  nrd_backend identity;
  nrd_model* model;
  nrd_handle_counts counts;
  nrd_objective_stats objective;
  uint32_t points;

  expect(nrd_abi_version() == NRD_ABI_VERSION, "abi version");
  expect(nrd_abi_struct_size(NRD_STRUCT_REQUEST) == sizeof(nrd_request), "request size");
  expect(nrd_abi_struct_size(NRD_STRUCT_STRING) == sizeof(nrd_string), "string size");
  expect(nrd_abi_struct_size(NRD_STRUCT_OBJECTIVE) == sizeof(nrd_objective), "objective size");
  expect(nrd_abi_struct_size(999) == 0, "unknown struct");

  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  expect(nrd_runtime_create(&options, &runtime, &error) == NRD_OK, "runtime");

  memset(&doubling, 0, sizeof doubling);
  doubling.struct_size = sizeof doubling;
  doubling.open_model = open_model;
  doubling.open_instance = open_instance;
  doubling.execute = execute;
  doubling.close_instance = close_nothing;
  doubling.close_model = close_nothing;
  model = load(runtime, &doubling, "doubling");
  infer(model, 0, 2);
  infer(model, NRD_REQUEST_NO_INLINE, 2);
  nrd_model_release(model);

  expect(nrd_backend_find("identity", 8, &identity, &error) == NRD_OK, "find identity");
  model = load(runtime, &identity, "same");
  infer(model, 0, 1);
  expect(nrd_model_objective_read(model, &objective) == NRD_NOT_FOUND, "no objective");
  expect(objective.kept + objective.late == 0, "nothing kept");
  nrd_model_cost_curve_read(model, NULL, 0, &points);
  expect(points == 0, "no costs");
  nrd_model_release(model);

  expect(nrd_runtime_release(runtime, &error) == NRD_OK, "release");
  nrd_handle_counts_read(&counts);
  expect(counts.runtimes + counts.models + counts.requests == 0, "nothing is left");
  puts("capi_c_test: ok");
  return 0;
}
