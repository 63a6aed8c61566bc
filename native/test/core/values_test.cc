// Tests of values that requests carry to backends and responses carry back.
#include <string>
#include <vector>

#include "test/core/core_fixture.h"
#include "test/core/decoupled_fixture.h"
#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

nrd_value TextValue(std::string_view name, std::string_view text) {
  return {.name = AsNrdString(name),
          .text = AsNrdString(text),
          .number = 0,
          .real = 0,
          .kind = NRD_VALUE_STRING,
          .reserved = 0};
}

nrd_value IntValue(std::string_view name, int64_t number) {
  return {.name = AsNrdString(name),
          .text = {},
          .number = number,
          .real = 0,
          .kind = NRD_VALUE_INT,
          .reserved = 0};
}

// "name=text" or "name=number" of each.
std::vector<std::string> Written(const nrd_value* values, uint32_t count) {
  std::vector<std::string> written;
  for (uint32_t i = 0; i < count; ++i) {
    written.push_back(std::string(View(values[i].name)) + "=" +
                      (values[i].kind == NRD_VALUE_STRING ? std::string(View(values[i].text))
                                                          : std::to_string(values[i].number)));
  }
  return written;
}

std::vector<std::string> ResponseOf(const nrd_request* request) {
  return Written(request->response_values, request->response_value_count);
}

using Texts = std::vector<std::string>;

TEST_CASE("a backend sees the id and the values of a request") {
  Texts seen;
  std::string id;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    const nrd_request& request = *batch->requests[0];
    seen = Written(request.values, request.value_count);
    id = View(request.id);
    return CopyInputs(batch, error);
  }};
  TestRuntime runtime;
  TestModel model(runtime, backend);
  TestRequest request(model);
  const nrd_value values[] = {TextValue("name", "text"), IntValue("number", -3)};
  request->id = AsNrdString("request 1");
  request->values = values;
  request->value_count = 2;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(id == "request 1");
  CHECK(seen == Texts{"name=text", "number=-3"});
  CHECK(request->response_value_count == 0);

  nrd_request_reset(request.get());
  CHECK(request->value_count == 0);
  CHECK(request->values == nullptr);
  CHECK(request->id.size == 0);
}

TEST_CASE("values of a response are copied and stay until the next submit or reset") {
  int32_t run = 0;
  FunctionBackend backend{.run = [&run](nrd_batch* batch, nrd_error* error) {
    nrd_error wrong{};
    const nrd_value nobody = IntValue("x", 1);
    CHECK(nrd_batch_request_value(batch, batch->request_count, &nobody, &wrong) ==
          NRD_INVALID_ARGUMENT);
    CHECK(Text(wrong) == "backend named request 1, the batch has 1");
    if (++run == 1) {
      for (int64_t i = 0; i < 20; ++i) {  // beyond what a vector reserves at first
        std::string name = "value " + std::to_string(i);
        std::string text(40, static_cast<char>('a' + i));
        const nrd_value value = TextValue(name, text);
        CHECK(nrd_batch_request_value(batch, 0, &value, error) == NRD_OK);
        name.assign(name.size(), '#');
        text.assign(text.size(), '#');
      }
    }
    return CopyInputs(batch, error);
  }};
  TestRuntime runtime;
  TestModel model(runtime, backend);
  TestRequest request(model);
  CHECK(request.SubmitAndWait() == NRD_OK);
  const Texts got = ResponseOf(request.get());
  REQUIRE(got.size() == 20);
  CHECK(got[0] == "value 0=" + std::string(40, 'a'));
  CHECK(got[19] == "value 19=" + std::string(40, 't'));

  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->response_value_count == 0);
  run = 0;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->response_value_count == 20);
  nrd_request_reset(request.get());
  CHECK(request->response_value_count == 0);
  CHECK(request->response_values == nullptr);
}

TEST_CASE("each response of a decoupled model has its own values") {
  std::vector<Texts> seen;
  nrd_request* record = nullptr;
  Collector collector;
  collector.on_response = [&](uint64_t, nrd_tensor*, uint32_t) {
    seen.push_back(ResponseOf(record));
  };
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    for (int32_t i = 0; i < 3; ++i) {
      const nrd_value value = IntValue("response", i);
      if (i != 1) {
        CHECK(nrd_batch_request_value(batch, 0, &value, error) == NRD_OK);
      }
      CHECK(Send(batch, 0, i, error) == NRD_OK);
    }
    const nrd_value value = IntValue("last", 1);
    return nrd_batch_request_value(batch, 0, &value, error);
  }};
  TestRuntime runtime(0, collector.Options());
  TestModel model(runtime, backend, {.flags = kDecoupled});
  TestRequest request(model);
  record = request.get();
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(seen == std::vector<Texts>{{"response=0"}, {}, {"response=2"}});
  CHECK(ResponseOf(record) == Texts{"last=1"});
}

TEST_CASE("the response cache tells values of requests apart, and keeps none of responses") {
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    const nrd_value value = IntValue("made", 1);
    CHECK(nrd_batch_request_value(batch, 0, &value, error) == NRD_OK);
    return CopyInputs(batch, error);
  }};
  TestRuntime runtime(1 << 20);
  TestModel model(runtime, backend, {.flags = NRD_MODEL_NO_INLINE | NRD_MODEL_RESPONSE_CACHE});
  const nrd_value values[] = {IntValue("number", 1), IntValue("number", 2)};
  const auto hits = [&](const nrd_value* value) {
    TestRequest request(model);
    request->values = value;
    request->value_count = value == nullptr ? 0 : 1;
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request->response_value_count == (request->cache_hit != 0 ? 0 : 1));
    return request->cache_hit;
  };
  CHECK(hits(&values[0]) == 0);
  CHECK(hits(&values[1]) == 0);
  CHECK(hits(nullptr) == 0);
  CHECK(hits(&values[0]) == 1);
  CHECK(hits(&values[1]) == 1);
  CHECK(hits(nullptr) == 1);
}

// Copies the values that it gets into `seen` and adds its own name.
FunctionBackend Saying(const char* name, Texts* seen) {
  return FunctionBackend{.run = [name, seen](nrd_batch* batch, nrd_error* error) {
    const nrd_request& request = *batch->requests[0];
    seen->push_back(std::string(View(request.id)));
    for (const std::string& text : Written(request.values, request.value_count)) {
      seen->push_back(text);
    }
    const nrd_value value = TextValue("by", name);
    const int32_t code = nrd_batch_request_value(batch, 0, &value, error);
    return code == NRD_OK ? CopyInputs(batch, error) : code;
  }};
}

TEST_CASE("an ensemble hands values to its steps, and those of the last one back") {
  Texts first_seen;
  Texts last_seen;
  FunctionBackend first = Saying("first", &first_seen);
  FunctionBackend last = Saying("last", &last_seen);
  FunctionBackend silent{.run = CopyInputs};
  TestRuntime runtime;
  TestModel first_model(runtime, first, {.name = "first"});
  TestModel last_model(runtime, last, {.name = "last"});
  TestModel silent_model(runtime, silent, {.name = "silent"});
  TestModel ensemble(
      LoadEnsemble(runtime, Chain({first_model.get(), last_model.get(), silent_model.get()})));
  TestRequest request(ensemble);
  const nrd_value value = IntValue("number", 5);
  request->id = AsNrdString("whole");
  request->values = &value;
  request->value_count = 1;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(first_seen == Texts{"whole", "number=5"});
  CHECK(last_seen == Texts{"whole", "number=5"});
  CHECK(ResponseOf(request.get()) == Texts{"by=last"});
}

TEST_CASE("values of a decoupled step's responses pass through what is behind it") {
  std::vector<Texts> seen;
  nrd_request* record = nullptr;
  Collector collector;
  collector.on_response = [&](uint64_t, nrd_tensor*, uint32_t) {
    seen.push_back(ResponseOf(record));
  };
  FunctionBackend sender{.run = [](nrd_batch* batch, nrd_error* error) {
    for (int32_t i = 0; i < 3; ++i) {
      const nrd_value value = IntValue("response", i);
      CHECK(nrd_batch_request_value(batch, 0, &value, error) == NRD_OK);
      const int32_t code =
          i < 2 ? Send(batch, 0, i, error) : Make(batch, 0, 0, i, error);  // the last one
      CHECK(code == NRD_OK);
    }
    return NRD_OK;
  }};
  FunctionBackend silent{.run = CopyInputs};
  TestRuntime runtime(0, collector.Options());
  TestModel sending(runtime, sender, {.name = "sending", .flags = kDecoupled});
  TestModel again(runtime, sender, {.name = "again", .flags = kDecoupled});
  TestModel silent_model(runtime, silent, {.name = "silent"});
  SUBCASE("a step that says nothing") {
    TestModel ensemble(LoadEnsemble(runtime, Chain({sending.get(), silent_model.get()})));
    TestRequest request(ensemble);
    record = request.get();
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(seen == std::vector<Texts>{{"response=0"}, {"response=1"}});
    CHECK(ResponseOf(record) == Texts{"response=2"});
  }
  SUBCASE("another decoupled step") {
    TestModel ensemble(LoadEnsemble(runtime, Chain({sending.get(), again.get()})));
    TestRequest request(ensemble);
    record = request.get();
    CHECK(request.SubmitAndWait() == NRD_OK);
    REQUIRE(seen.size() == 8);
    for (size_t i = 0; i < seen.size(); ++i) {
      CHECK(seen[i] == Texts{"response=" + std::to_string(i % 3)});
    }
    CHECK(ResponseOf(record) == Texts{"response=2"});
  }
}

TEST_CASE("a model tells what its configuration says of its tensors") {
  FunctionBackend backend{.run = CopyInputs};
  TestRuntime runtime;
  TestModel model(runtime, backend, {.with_optional_input = true, .output_count = 2});
  nrd_tensor_spec spec{};
  CHECK(nrd_model_tensor(model.get(), NRD_TENSOR_INPUT, 1, &spec) == NRD_OK);
  CHECK(View(spec.name) == "MAYBE");
  CHECK(spec.datatype == NRD_TYPE_INT32);
  CHECK(spec.rank == 1);
  CHECK(spec.dims[0] == 4);
  CHECK(spec.flags == NRD_SPEC_OPTIONAL);
  CHECK(nrd_model_tensor(model.get(), NRD_TENSOR_OUTPUT, 1, &spec) == NRD_OK);
  CHECK(View(spec.name) == "OUTPUT1");
  CHECK(nrd_model_tensor(model.get(), NRD_TENSOR_INPUT, 2, &spec) == NRD_NOT_FOUND);
  CHECK(nrd_model_tensor(model.get(), NRD_TENSOR_OUTPUT, 2, &spec) == NRD_NOT_FOUND);
  CHECK(nrd_model_tensor(model.get(), 2, 0, &spec) == NRD_NOT_FOUND);
}

}  // namespace
}  // namespace nereid::test
