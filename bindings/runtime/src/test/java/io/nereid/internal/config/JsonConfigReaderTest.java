package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.TextFormat;
import io.nereid.proto.ModelConfig;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Configurations in JSON: every form that protobuf's mapping has, and what is refused. */
class JsonConfigReaderTest {

  private static ConfigNode read(String json) {
    return JsonConfigReader.read(json, "config");
  }

  private static NereidException failure(String json) {
    NereidException failure = assertThrows(NereidException.class, () -> read(json));
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(
        failure.getMessage().chars().noneMatch(Character::isISOControl), failure.getMessage());
    return failure;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|",
        "{\"max_batch_size\": 3}|max_batch_size: 3",
        "{max_batch_size: 3, 'name': 'm'}|max_batch_size: 3 name: 'm'",
        "{\"maxBatchSize\": \"3\"}|max_batch_size: 3",
        "{\"maxBatchSize\": 3.0}|max_batch_size: 3",
        "{\"maxBatchSize\": 3e1}|max_batch_size: 30",
        "{\"maxBatchSize\": -0}|",
        "{\"maxBatchSize\": null, \"input\": null, \"dynamic_batching\": null}|",
        "{\"input\": [{\"dims\": [\"-1\", 9223372036854775807]}]}|input { dims: -1"
            + " dims: 9223372036854775807 }",
        "{\"input\": [{\"data_type\": \"TYPE_FP32\"}, {\"dataType\": 11}]}"
            + "|input { data_type: TYPE_FP32 } input { data_type: TYPE_FP32 }",
        "{\"name\": \"a\\u00b5\\n\\\"\\\\\\u0000\"}|name: \"a\\302\\265\\n\\\"\\\\\\000\"",
        "{\"dynamicBatching\": {\"maxQueueDelayMicroseconds\": 18446744073709551615}}"
            + "|dynamic_batching { max_queue_delay_microseconds: 18446744073709551615 }",
        "{\"dynamic_batching\": {\"priority_queue_policy\": {\"2\": {\"timeoutAction\": 1}}}}"
            + "|dynamic_batching { priority_queue_policy { key: 2 value { timeout_action: 1 } } }",
        "{\"parameters\": {\"k\": {\"string_value\": \"v\"}, \"\": {}}}"
            + "|parameters { key: 'k' value { string_value: 'v' } } parameters { value { } }",
        "{\"metric_tags\": {\"a\": \"b\"}}|metric_tags { key: 'a' value: 'b' }",
        "{\"response_cache\": {\"enable\": true}}|response_cache { enable: true }",
        "{\"optimization\": {\"eager_batching\": false}}|optimization { }",
        "{\"model_warmup\": [{\"inputs\": {\"A\": {\"zero_data\": false}}}]}"
            + "|model_warmup { inputs { key: 'A' value { zero_data: false } } }",
        "{\"sequence_batching\": {\"direct\": {\"minimum_slot_utilization\": 0.1}}}"
            + "|sequence_batching { direct { minimum_slot_utilization: 0.1 } }",
        "{\"model_metrics\": {\"metric_control\": [{\"histogram_options\": {\"buckets\":"
            + " [1e-5, \"2.5\", \"Infinity\", \"-Infinity\"]}}]}}|model_metrics { metric_control {"
            + " histogram_options { buckets: [ 1e-5, 2.5, inf, -inf ] } } }",
        "{\"version_policy\": {\"all\": {}}}|version_policy { all { } }"
      })
  void everyFormIsRead(String json, String expected) throws Exception {
    String text = expected == null ? "" : expected;
    assertEquals(TextFormat.parse(text, ModelConfig.class), read(json).message());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"nam\": 1}|config: ModelConfig has no field 'nam'",
        "{\"input\": [{}, {\"dim\": 1}]}|config at input[1]: ModelInput has no field 'dim'",
        "{\"name\": 3}|config at name: expected a string, got 3",
        "{\"name\": [\"a\"]}|config at name: expected a string, got an array",
        "{\"input\": {}}|config at input: expected an array, got an object",
        "{\"input\": [null]}|config at input[0]: expected an object, got null",
        "{\"input\": [{\"dims\": [1, null]}]}|config at input[0].dims[1]: expected a number, got n",
        "{\"optimization\": 1}|config at optimization: expected an object, got 1",
        "{\"max_batch_size\": 2147483648}|from -2147483648 to 2147483647, got 2147483648",
        "{\"max_batch_size\": 1.5}|config at max_batch_size: expected a whole number",
        "{\"max_batch_size\": 1e999999999}|config at max_batch_size: expected a whole number",
        "{\"max_batch_size\": 1e99999999999}|config at max_batch_size: expected a whole number",
        "{\"max_batch_size\": \"\"}|config at max_batch_size: expected a whole number",
        "{\"max_batch_size\": \"0x10\"}|config at max_batch_size: expected a whole number",
        "{\"max_batch_size\": true}|config at max_batch_size: expected a number, got true",
        "{\"instance_group\": [{\"profile\": [0]}]}|config at instance_group[0].profile[0]: expec",
        "{\"dynamic_batching\": {\"priority_levels\": -1}}|from 0 to 18446744073709551615, got -1",
        "{\"response_cache\": {\"enable\": \"true\"}}|expected true or false, got a string",
        "{\"input\": [{\"data_type\": \"FP32\"}]}|config at input[0].data_type: expected TYPE_INV",
        "{\"input\": [{\"data_type\": 99}]}|TYPE_BF16, got 99",
        "{\"input\": [{\"data_type\": {}}]}|expected a name of DataType",
        "{\"sequence_batching\": {\"direct\": {\"minimum_slot_utilization\": 1e39}}}|fits 32 bits",
        "{\"name\": \"a\", \"name\": \"b\"}|config:1:",
        "{\"max_batch_size\": 1, \"maxBatchSize\": 1}|config at max_batch_size: the field is there",
        "{\"dynamic_batching\": {}, \"ensemble_scheduling\": {}}|config at ensemble_scheduling:"
            + " 'dynamic_batching' is there already: only one of them can be",
        "{\"dynamic_batching\": {\"priority_queue_policy\": {\"x\": {}}}}|[\"x\"]: key: expected a",
        "{\"dynamic_batching\": {\"priority_queue_policy\": {\"1\": {}, \"01\": {}}}}|[\"01\"]: the"
            + " key is there twice",
        "{\"metric_tags\": {\"a\": null}}|config at metric_tags[\"a\"]: expected a string, got"
            + " null",
        "{\"metric_tags\": {\"\\u0007\": 1}}|config at metric_tags[\"?\"]: expected a string",
        "[]|config: expected an object, got an array",
        "|config: expected an object, got nothing",
        "{} {}|config: expected nothing after the object",
        "{\"name\": \"a\"|config:1:",
        "{'name': 1}|config at name: expected a string, got 1",
        "{name: a}|config:1:8: no JSON: "
      })
  void mistakesAreNamedWithTheirPath(String json, String expected) {
    String message = failure(json == null ? "" : json).getMessage();
    assertTrue(message.contains(expected), message);
  }

  @Test
  void writtenFieldsAreKnown() {
    ConfigNode node = read("{\"max_batch_size\": 0, \"input\": [{\"dims\": []}]}");
    assertTrue(node.isWritten(ModelConfig.MAX_BATCH_SIZE_FIELD_NUMBER));
    assertTrue(node.isWritten(ModelConfig.INPUT_FIELD_NUMBER));
    assertFalse(node.isWritten(ModelConfig.NAME_FIELD_NUMBER));
  }

  @Test
  void sizeAndDepthAreLimited() {
    String large = "{\"name\": \"" + "x".repeat(1 << 20) + "\"}";
    assertTrue(failure(large).getMessage().endsWith("is larger than 1048576 bytes"));
    String euro = "{\"name\": \"" + "\u20ac".repeat(400_000) + "\"}";
    assertTrue(failure(euro).getMessage().endsWith("is larger than 1048576 bytes"));
    String deep = "{\"input\": " + "[".repeat(100_000);
    assertTrue(failure(deep).getMessage().startsWith("config at input[0]: expected an object"));
    String number = "{\"max_batch_size\": " + "1".repeat(10_000) + "}";
    assertTrue(failure(number).getMessage().length() < 300, failure(number).getMessage());
  }

  @Test
  @Timeout(600) // in place of running out of memory slowly
  void manyValuesBelowALongKeyShareIt() {
    String key = "k".repeat(4_096);
    String json =
        "{\"model_warmup\": [{\"inputs\": {\"K\": {\"dims\": [D]}, \"L\": {\"dims\": [Dx]}}}]}"
            .replace("K", key)
            .replace("L", key.substring(1))
            .replace("D", "1,".repeat(4_095) + "1");
    String message = failure(json.replace("x", ",\"x\"")).getMessage();
    String shown = "config at model_warmup[0].inputs[\"" + "k".repeat(80) + "...\"].dims: ";
    assertEquals(shown + "expected at most 4096 elements, got more", message);
    ModelConfig config = (ModelConfig) read(json.replace("x", "")).message();
    assertEquals(4_096, config.getModelWarmup(0).getInputsOrThrow(key).getDimsCount());
  }

  @Test
  void namesHaveALimit() {
    for (int length : new int[] {4_097, 49_000, 600_000}) {
      String key = "k".repeat(length);
      String message = failure("{\"metric_tags\": {\"" + key + "\": \"v\"}}").getMessage();
      assertTrue(message.contains("4096") && message.length() < 300, message);
      assertFalse(message.contains("no JSON"), message);
      message = failure("{\"" + key + "\": 1}").getMessage();
      assertTrue(message.length() < 300, message);
    }
    String many = failure("{\"input\": [" + "{},".repeat(300_000) + "{}]}").getMessage();
    assertEquals("config at input: expected at most 4096 elements, got more", many);
  }
}
