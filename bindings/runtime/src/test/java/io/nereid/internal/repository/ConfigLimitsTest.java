package io.nereid.internal.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Configurations that are as large as they may be, and made to take long. */
@Timeout(60)
class ConfigLimitsTest {

  /** Many times what it takes, far less than anything quadratic. */
  private static final Duration QUICK = Duration.ofSeconds(5);

  @TempDir Path directory;

  /** As often as it fits in a file of the largest size. */
  private static String fill(String before, String repeated, String after) {
    int room = ConfigFile.MAX_BYTES - before.length() - after.length();
    return before + repeated.repeat(room / repeated.length()) + after;
  }

  private static NereidException failure(String text) {
    return assertTimeout(
        QUICK, () -> assertThrows(NereidException.class, () -> ConfigFile.parse(text, "f")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "input [ {}|, {}|]|f:1:1: expected at most 4096 times input, got ",
        "|input {}||f:1:1: expected at most 4096 times input, got ",
        "|instance_group [ {}, {} ]||f: expected at most 4096 times instance_group, got ",
        "ensemble_scheduling { step [ {}|, {}|] }|times step, got ",
        "|model_warmup { inputs { key: 'A' } }||times model_warmup, got ",
        "instance_group { profile: [ 'a'|, 'a'|] }|f:1:18: expected at most 4096 times profile, got ",
        "dynamic_batching {|preferred_batch_size: 1|}|times preferred_batch_size, got ",
        "optimization { cuda { graph_spec [ {}|, {}|] } }|times graph_spec, got "
      })
  void tooManyElementsAreRefusedAtOnce(
      String before, String repeated, String after, String expected) {
    String text =
        fill(before == null ? "" : before, repeated + " ", after == null ? "" : " " + after);
    NereidException failure = failure(text);
    assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
    assertTrue(failure.getMessage().contains(expected), failure.getMessage());
  }

  @Test
  void keysHaveALimit() {
    String key = "k".repeat(4097);
    String message = failure("parameters { key: '" + key + "' value { } }").getMessage();
    assertEquals("f:1:14: expected a key of at most 4096 characters, got 4097", message);
    ConfigFile.parse("parameters { key: '" + key.substring(1) + "' value { } }", "f");
  }

  /** Lists in brackets, in lists in brackets: where each value is takes no longer than reading. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ input_map [ E { key: 'B' value: 'c' } ] }|40",
        "{ input_map [ E { key: 'B' value: 'c' } ] output_map { key: 'c' value: 'd' } }|1000",
        "{ input_map { key: 'A' value: 'd' } input_map [ E { key: 'B' value: 'c' } ] }|200"
      })
  void largeListsInListsTakeTimeInProportion(String step, int entryCount) {
    StringBuilder entries = new StringBuilder();
    for (int i = 0; i < entryCount; i++) {
      entries.append("{ key: '").append(i).append("' value: 'a' }, ");
    }
    String one = step.replace("E", entries);
    String text = fill("ensemble_scheduling { step [ " + one, ", " + one, " ] }");
    int values =
        assertTimeout(
            QUICK,
            () -> {
              ConfigNode root = ConfigFile.parse(text, "f");
              FieldRules.check(root, true, line -> {});
              return ConfigValues.of(root, Map.of()).size();
            });
    assertTrue(values > 10_000, () -> "" + values);
  }

  @Test
  void theMostInputsAreReadQuickly() throws IOException {
    StringBuilder config = new StringBuilder("backend: 'identity' input [ ");
    for (int i = 0; i < ConfigLimits.MAX_ELEMENTS; i++) {
      config.append(i == 0 ? "" : ", ");
      config.append("{ name: 'input_").append(i).append("' data_type: TYPE_FP32 dims: [ 1, 2 ] }");
    }
    config.append(" ] output { name: 'OUT' data_type: TYPE_FP32 dims: 1 }");
    TestRepository repository = new TestRepository(directory);
    repository.model("m", config.toString(), 1);
    assertEquals(
        ConfigLimits.MAX_ELEMENTS,
        assertTimeout(QUICK, () -> repository.spec().inputs().size()).intValue());
  }

  @Test
  void oneValueMayBeLong() {
    List<String> texts =
        List.of(
            fill("name: '", "x", "'"),
            fill("name: '", "' '", "'"),
            fill("", "\n", ""),
            fill("# ", "x", ""));
    for (String text : texts) {
      assertTimeout(QUICK, () -> ConfigValues.of(ConfigFile.parse(text, "f"), Map.of()));
    }
  }

  @Test
  void manyListsInJsonAreReadQuickly() {
    String list = "{\"dims\": [" + "1,".repeat(ConfigLimits.MAX_ELEMENTS - 1) + "1]}";
    String json = fill("{\"input\": [" + list, "," + list, "]}");
    int values =
        assertTimeout(
            QUICK, () -> ConfigValues.of(JsonConfigReader.read(json, "j"), Map.of()).size());
    assertTrue(values > 100, () -> "" + values);
  }
}
