package io.nereid.benchmarks.objective;

import java.util.ArrayList;
import java.util.List;

/**
 * A way to say how a model batches.
 *
 * @param name of the model that is served with it
 * @param text for people
 * @param ours whether it is an objective and nothing else
 * @param timeout whether requests that wait for too long are refused
 * @param configuration what {@code config.pbtxt} says
 */
record Setting(String name, String text, boolean ours, boolean timeout, String configuration) {

  /** The one that says in how long to answer, and then the grid of static ones. */
  static List<Setting> all(ServedModel model) {
    List<Setting> all = new ArrayList<>();
    all.add(
        new Setting(
            model.name() + "_objective",
            "objective p99 " + model.objectiveMs() + "ms",
            true,
            false,
            "parameters { key: \"nereid.objective\" value { string_value: \"p99 "
                + model.objectiveMs()
                + "ms\" } }\n"));
    long objectiveUs = model.objectiveMs() * 1000L;
    for (long delayUs : new long[] {0, objectiveUs / 4, objectiveUs / 2}) {
      for (int preferred : new int[] {model.maxBatchSize(), model.maxBatchSize() / 4}) {
        all.add(fixed(model, delayUs, preferred, 0));
        all.add(fixed(model, delayUs, preferred, objectiveUs / 2));
      }
    }
    return all;
  }

  private static Setting fixed(ServedModel model, long delayUs, int preferred, long timeoutUs) {
    String policy =
        timeoutUs == 0
            ? ""
            : "  default_queue_policy { timeout_action: REJECT default_timeout_microseconds: "
                + timeoutUs
                + " }\n";
    return new Setting(
        model.name() + "_d" + delayUs + "_p" + preferred + (timeoutUs == 0 ? "" : "_t" + timeoutUs),
        "delay "
            + delayUs / 1e3
            + " ms, preferred "
            + preferred
            + (timeoutUs == 0 ? "" : ", timeout " + timeoutUs / 1e3 + " ms"),
        false,
        timeoutUs > 0,
        "dynamic_batching {\n  preferred_batch_size: [ "
            + preferred
            + " ]\n  max_queue_delay_microseconds: "
            + delayUs
            + "\n"
            + policy
            + "}\n");
  }
}
