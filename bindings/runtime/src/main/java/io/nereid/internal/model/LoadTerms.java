package io.nereid.internal.model;

import io.nereid.internal.ffi.InstanceRecord;
import io.nereid.internal.request.Signature;
import io.nereid.model.ModelSpec;
import io.nereid.statistics.ObjectiveStatistics;
import java.util.List;
import java.util.Map;

/**
 * The conditions of a load besides its draft; above all whether the load is a shadow: a version
 * that gets copies of the requests to another one, and executes in time that nobody else wants. Any
 * thread may call.
 *
 * @param learned the costs of executions that an earlier load measured
 * @param promoted whether a shadow was promoted, and so is no shadow any more
 */
record LoadTerms(List<ObjectiveStatistics.Cost> learned, boolean promoted) {

  /** The parameter of a shadow's specification; its value is the version that it follows. */
  private static final String PARAMETER = "shadow_of";

  /** The version whose requests the load gets copies of; 0: it is no shadow. */
  long primary(ModelSpec spec) {
    String version = spec.parameters().get(PARAMETER);
    if (version == null || promoted) {
      return 0;
    }
    if (!version.matches("[1-9][0-9]{0,17}") || Long.parseLong(version) == spec.version()) {
      throw Signature.invalid(
          "expected %s to name another version of model '%s' than %s, got \"%s\""
              .formatted(PARAMETER, spec.name(), spec.version(), version));
    }
    return Long.parseLong(version);
  }

  /** Throws if the load would be a shadow but the model cannot be one. */
  void check(ModelSpec spec) {
    String obstacle = primary(spec) == 0 ? "" : obstacle(spec);
    if (!obstacle.isEmpty()) {
      throw Signature.invalid(
          "version %s of model '%s' cannot be a shadow (%s): %s"
              .formatted(spec.version(), spec.name(), PARAMETER, obstacle));
    }
  }

  private static String obstacle(ModelSpec spec) {
    if (spec.ensemble().isPresent()) {
      return "it is an ensemble, whose steps' models can have shadows";
    }
    if (spec.sequenceBatching().isPresent()) {
      return "it has sequences, of which a shadow would miss requests";
    }
    if (spec.decoupled()) {
      return "it is decoupled, and its requests have any number of responses";
    }
    return Isolation.isWanted(spec)
        ? "it runs in a process of its own, which would take time that others want"
        : "";
  }

  /**
   * The priority of the instances; 0: that of their groups. Threads of Java backends keep their
   * priority: one that gets no processor in the midst of Java code holds up garbage collection.
   */
  int priority(ModelSpec spec, boolean javaBackend) {
    if (primary(spec) == 0) {
      return 0;
    }
    return javaBackend ? InstanceRecord.LAST : InstanceRecord.IDLE;
  }

  /**
   * Makes ONNX Runtime use only the thread of a shadow's instance: its other threads would not give
   * way.
   */
  void addParameters(ModelSpec spec, Map<String, String> parameters) {
    if (primary(spec) != 0) {
      parameters.put("intra_op_thread_count", "1");
      parameters.put("inter_op_thread_count", "1");
    }
  }
}
