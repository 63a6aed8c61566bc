package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Configurations that are as large as they may be, and made to take long. */
@Timeout(600) // in place of waiting for ever
class ConfigLimitsTest {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** Whatever grows with the square needs this much more for four times as much, and then some. */
  private static final int SQUARE = 16;

  /** So little says nothing: a page that was not there, a method that was just compiled. */
  private static final long NOISE_NS = 20_000_000;

  @TempDir Path directory;

  /** As often as it fits in a file of the largest size, or of a part of that. */
  private static String fill(int part, String before, String repeated, String after) {
    int room = ConfigNode.MAX_BYTES / part - before.length() - after.length();
    return before + repeated.repeat(room / repeated.length()) + after;
  }

  /**
   * Runs work of whole size, 1, and of a quarter, 4: it has to take time in proportion. Counted is
   * processor time of this thread, of which other work on the machine takes nothing.
   */
  private static void assertInProportion(IntConsumer work) {
    for (int attempt = 1; ; attempt++) {
      work.accept(4); // what runs first is compiled meanwhile
      long quarterNs = cpuNs(work, 4);
      long wholeNs = cpuNs(work, 1);
      if (wholeNs < SQUARE / 2 * quarterNs + NOISE_NS) {
        return;
      }
      assertTrue(attempt < 3, () -> "a quarter takes " + quarterNs + " ns, the whole " + wholeNs);
    }
  }

  private static long cpuNs(IntConsumer work, int part) {
    long startNs = THREADS.getCurrentThreadCpuTime();
    work.accept(part);
    return THREADS.getCurrentThreadCpuTime() - startNs;
  }

  private static NereidException failure(String text) {
    return assertThrows(NereidException.class, () -> ConfigNode.parse(text, "f"));
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
        "instance_group { profile: [ 'a'|, 'a'|] }|f:1:18: expected at most 4096 times profile, got"
            + " ",
        "dynamic_batching {|preferred_batch_size: 1|}|times preferred_batch_size, got ",
        "optimization { cuda { graph_spec [ {}|, {}|] } }|times graph_spec, got "
      })
  void tooManyElementsAreRefusedAtOnce(
      String before, String repeated, String after, String expected) {
    String head = before == null ? "" : before;
    String tail = after == null ? "" : " " + after;
    assertInProportion(part -> {
      NereidException failure = failure(fill(part, head, repeated + " ", tail));
      assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
      assertTrue(failure.getMessage().contains(expected), failure.getMessage());
    });
  }

  @Test
  void keysHaveALimit() {
    String key = "k".repeat(4097);
    String message = failure("parameters { key: '" + key + "' value { } }").getMessage();
    assertEquals("f:1:14: expected a key of at most 4096 characters, got 4097", message);
    ConfigNode.parse("parameters { key: '" + key.substring(1) + "' value { } }", "f");
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
    assertInProportion(part -> {
      String text = fill(part, "ensemble_scheduling { step [ " + one, ", " + one, " ] }");
      ConfigNode root = ConfigNode.parse(text, "f");
      FieldRules.check(root, new BackendNames.Found("identity", true), line -> {});
      int values = ConfigValues.of(root, Map.of()).size();
      assertTrue(values > 10_000 / part, () -> "" + values);
    });
  }

  @Test
  void theMostInputsAreReadQuickly() throws IOException {
    TestRepository[] repositories = new TestRepository[5];
    for (int part : new int[] {1, 4}) {
      StringBuilder config = new StringBuilder("backend: 'identity' input [ ");
      for (int i = 0; i < ConfigNode.MAX_ELEMENTS / part; i++) {
        config.append(i == 0 ? "" : ", ").append("{ name: 'input_").append(i);
        config.append("' data_type: TYPE_FP32 dims: [ 1, 2 ] }");
      }
      config.append(" ] output { name: 'OUT' data_type: TYPE_FP32 dims: 1 }");
      repositories[part] =
          new TestRepository(Files.createDirectory(directory.resolve("part" + part)));
      repositories[part].model("m", config.toString(), 1);
    }
    assertInProportion(part -> {
      int inputs = repositories[part].spec().inputs().size();
      assertEquals(ConfigNode.MAX_ELEMENTS / part, inputs);
    });
  }

  @Test
  void oneValueMayBeLong() {
    List<IntFunction<String>> texts =
        List.of(
            part -> fill(part, "name: '", "x", "'"),
            part -> fill(part, "name: '", "' '", "'"),
            part -> fill(part, "", "\n", ""),
            part -> fill(part, "# ", "x", ""));
    for (IntFunction<String> text : texts) {
      assertInProportion(
          part -> ConfigValues.of(ConfigNode.parse(text.apply(part), "f"), Map.of()));
    }
  }

  @Test
  void manyListsInJsonAreReadQuickly() {
    String list = "{\"dims\": [" + "1,".repeat(ConfigNode.MAX_ELEMENTS - 1) + "1]}";
    assertInProportion(part -> {
      String json = fill(part, "{\"input\": [" + list, "," + list, "]}");
      int values = ConfigValues.of(JsonConfigReader.read(json, "j"), Map.of()).size();
      assertTrue(values > 100 / part, () -> "" + values);
    });
  }
}
