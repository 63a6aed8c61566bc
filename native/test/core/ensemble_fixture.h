// Makes ensembles of the models of core_fixture.h, for tests.
#ifndef NEREID_TEST_ENSEMBLE_FIXTURE_H_
#define NEREID_TEST_ENSEMBLE_FIXTURE_H_

#include <string>
#include <vector>

#include "test/core/core_fixture.h"

namespace nereid::test {

// One int32 tensor of 4 elements, as the models of the core fixture have.
nrd_tensor_spec Int32Spec(const char* name);

struct EnsembleSettings {
  struct Step {
    nrd_model* model;
    std::vector<nrd_link> inputs;
    std::vector<nrd_link> outputs;
  };

  std::string name = "e";
  int64_t max_batch_size = 8;
  uint32_t flags = 0;
  uint32_t max_inflight_requests = 0;
  uint32_t instance_count = 0;
  const nrd_backend* backend = nullptr;
  std::vector<nrd_tensor_spec> inputs{Int32Spec("INPUT0")};
  std::vector<nrd_tensor_spec> outputs{Int32Spec("OUTPUT0")};
  std::vector<Step> steps;
  std::vector<uint32_t> output_values;
  int64_t value_count = -1;  // negative: the number of inputs and steps' outputs
};

// Each step takes the output of the one before.
EnsembleSettings Chain(const std::vector<nrd_model*>& models);

int32_t LoadEnsemble(TestRuntime& runtime, const EnsembleSettings& settings, nrd_model** model_out,
                     std::string* message_out);

// Requires that it loads.
nrd_model* LoadEnsemble(TestRuntime& runtime, const EnsembleSettings& settings);

// For a backend: makes each wanted output the sum of the given inputs, plus `amount`.
int32_t SumInputs(nrd_batch* batch, nrd_error* error, int32_t amount);

// A backend of SumInputs.
FunctionBackend Adder(int32_t amount);

int32_t FailWith(nrd_error* error, int32_t code, const char* message);

}  // namespace nereid::test

#endif  // NEREID_TEST_ENSEMBLE_FIXTURE_H_
