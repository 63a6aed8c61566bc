package io.nereid.perf.tune;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of a model's configuration that is tuned. Configurations are trees of JSON, as in the
 * protocol.
 *
 * @param instances of its only instance group; 0: it has several groups, which are not changed
 * @param threads of ONNX Runtime for one instance; 0: the threads that all models share
 * @param maxBatch rows of a batch; 0: the model takes no batches
 */
record Candidate(int instances, int threads, int maxBatch, Batching batching) {

  private static final String THREADS = "intra_op_thread_count";
  private static final String OBJECTIVE = "nereid.objective";
  private static final String GROUPS = "instance_group";
  private static final String BATCHING = "dynamic_batching";
  private static final String PREFERRED = "preferred_batch_size";
  private static final String DELAY = "max_queue_delay_microseconds";

  /** The rules for batching requests. */
  sealed interface Batching {

    String inWords();

    /** Each request is executed alone. */
    record Alone() implements Batching {
      @Override
      public String inWords() {
        return "no batches";
      }
    }

    /**
     * Requests wait for others.
     *
     * @param preferred the rows that end the wait; 0: a full batch
     */
    record Waiting(long delayUs, int preferred) implements Batching {
      @Override
      public String inWords() {
        return "wait " + delayUs + " us" + (preferred == 0 ? "" : " for " + preferred + " rows");
      }
    }

    /** The model chooses by itself how long requests wait. */
    record Objective(String text) implements Batching {
      @Override
      public String inWords() {
        return "objective " + text;
      }
    }
  }

  /** Reads the candidate out of a configuration. */
  static Candidate of(Map<String, Object> config) {
    List<Object> groups = list(config.get(GROUPS));
    int instances =
        switch (groups.size()) {
          case 0 -> 1;
          case 1 -> Math.max(1, (int) number(map(groups.get(0)).get("count")));
          default -> 0;
        };
    return new Candidate(
        instances,
        (int) number(parameter(config, THREADS)),
        (int) number(config.get("max_batch_size")),
        batching(config));
  }

  private static Batching batching(Map<String, Object> config) {
    Object objective = parameter(config, OBJECTIVE);
    if (objective != null) {
      return new Batching.Objective(objective.toString());
    }
    if (config.get(BATCHING) == null) {
      return new Batching.Alone();
    }
    Map<String, Object> batching = map(config.get(BATCHING));
    List<Object> preferred = list(batching.get(PREFERRED));
    return new Batching.Waiting(
        number(batching.get(DELAY)),
        preferred.isEmpty() ? 0 : (int) number(preferred.get(preferred.size() - 1)));
  }

  /** Returns the configuration with this candidate's settings, changing only those that differ. */
  Map<String, Object> in(Map<String, Object> config) {
    Candidate present = of(config);
    Map<String, Object> changed = new LinkedHashMap<>(config);
    if (maxBatch != present.maxBatch) {
      changed.put("max_batch_size", maxBatch);
    }
    if (instances != present.instances) {
      List<Object> groups = list(config.get(GROUPS));
      Map<String, Object> group =
          new LinkedHashMap<>(groups.isEmpty() ? Map.of() : map(groups.get(0)));
      group.put("count", instances);
      changed.put(GROUPS, List.of(group));
    }
    if (threads != present.threads) {
      parameter(changed, THREADS, threads == 0 ? null : Integer.toString(threads));
    }
    if (!batching.equals(present.batching)) {
      change(changed);
    }
    return changed;
  }

  private void change(Map<String, Object> config) {
    parameter(config, OBJECTIVE, null);
    Map<String, Object> all = new LinkedHashMap<>(map(config.get(BATCHING)));
    all.remove(PREFERRED);
    all.remove(DELAY);
    if (batching instanceof Batching.Alone) {
      config.remove(BATCHING);
      return;
    }
    config.put(BATCHING, all);
    if (batching instanceof Batching.Objective objective) {
      parameter(config, OBJECTIVE, objective.text());
    } else if (batching instanceof Batching.Waiting waiting) {
      if (waiting.preferred() > 0) {
        all.put(PREFERRED, List.of(waiting.preferred()));
      }
      if (waiting.delayUs() > 0) {
        all.put(DELAY, waiting.delayUs());
      }
    }
  }

  private static Object parameter(Map<String, Object> config, String name) {
    return map(map(config.get("parameters")).get(name)).get("string_value");
  }

  private static void parameter(Map<String, Object> config, String name, String value) {
    Map<String, Object> parameters = new LinkedHashMap<>(map(config.get("parameters")));
    parameters.remove(name);
    if (value != null) {
      parameters.put(name, Map.of("string_value", value));
    }
    config.put("parameters", parameters);
  }

  /** Numbers of 64 bits are texts in protobuf's JSON. */
  private static long number(Object value) {
    return value == null ? 0 : Long.parseLong(value.toString());
  }

  @SuppressWarnings("unchecked") // JSON has no other keys
  static Map<String, Object> map(Object value) {
    return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
  }

  @SuppressWarnings("unchecked")
  private static List<Object> list(Object value) {
    return value instanceof List<?> list ? (List<Object>) list : List.of();
  }

  /** The settings in words; different settings have different texts. */
  String text() {
    List<String> words = new ArrayList<>();
    if (instances > 0) {
      words.add(instances == 1 ? "1 instance" : instances + " instances");
    }
    if (threads > 0) {
      words.add(threads == 1 ? "1 thread each" : threads + " threads each");
    }
    words.add(batching.inWords());
    if (maxBatch > 0) {
      words.add("at most " + maxBatch + " rows");
    }
    return String.join(", ", words);
  }
}
