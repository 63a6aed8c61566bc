package io.nereid.server.console;

import io.nereid.server.json.JsonBuffer;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.SequenceStatistics;
import java.time.Instant;

/** Writes what the overview and a model's page say of a model alike. */
final class OverviewJson {

  private OverviewJson() {}

  /** Writes a model as the overview has it. */
  static void model(ModelFigures model, JsonBuffer json) {
    json.write('{');
    identity(model, json);
    ModelFigures.Work work = model.work().orElse(null);
    if (work == null) {
      json.ascii(
          ",\"requests_per_s\":null,\"inferences_per_s\":null,\"executions_per_s\":null,"
              + "\"errors_per_s\":null,\"requests\":null,\"errors\":null,\"p50_us\":null,"
              + "\"p99_us\":null,\"batch_mean\":null,\"pending\":null,\"executing\":null,"
              + "\"instances\":null,\"busy\":null,\"memory\":null,\"sequences\":null,"
              + "\"last_ms\":null}");
      return;
    }
    ModelStatistics now = work.now();
    rates(work, json);
    json.ascii(",\"requests\":").number(now.success().count());
    errors(now, json);
    ConsoleJson.decimal(
        json.ascii(",\"p50_us\":"), ConsoleJson.percentileUs(work.minute().getFirst(), 50));
    ConsoleJson.decimal(
        json.ascii(",\"p99_us\":"), ConsoleJson.percentileUs(work.minute().getFirst(), 99));
    long executions = work.added(ModelStatistics::executionCount);
    double rows = work.added(ModelStatistics::inferenceCount);
    ConsoleJson.decimal(
        json.ascii(",\"batch_mean\":"), executions == 0 ? Double.NaN : rows / executions);
    queue(work, json);
    json.ascii(",\"instances\":").number(now.instanceCount());
    memory(work.memory(), json);
    json.ascii(",\"sequences\":");
    if (now.sequences().isPresent()) {
      json.number(now.sequences().get().active());
    } else {
      json.ascii("null");
    }
    json.ascii(",\"last_ms\":");
    if (now.lastInference().isPresent()) {
      json.number(now.lastInference().map(Instant::toEpochMilli).get());
    } else {
      json.ascii("null");
    }
    json.write('}');
  }

  static void identity(ModelFigures model, JsonBuffer json) {
    json.ascii("\"key\":").string(model.key());
    json.ascii(",\"namespace\":").string(model.namespace());
    json.ascii(",\"name\":").string(model.name());
    json.ascii(",\"version\":\"").ascii(model.version());
    json.ascii("\",\"state\":\"").ascii(model.state());
    json.ascii("\",\"backend\":").string(model.backend());
    ConsoleJson.text(json.ascii(",\"reason\":"), model.reason());
    ConsoleJson.place(json.ascii(",\"place\":"), model.reason());
  }

  static void rates(ModelFigures.Work work, JsonBuffer json) {
    rate("requests", work.perSecond(figures -> figures.success().count()), json);
    rate("inferences", work.perSecond(ModelStatistics::inferenceCount), json);
    rate("executions", work.perSecond(ModelStatistics::executionCount), json);
    rate("errors", work.perSecond(figures -> figures.fail().count()), json);
  }

  static void rate(String what, double perSecond, JsonBuffer json) {
    ConsoleJson.decimal(json.ascii(",\"").ascii(what).ascii("_per_s\":"), perSecond);
  }

  static void errors(ModelStatistics now, JsonBuffer json) {
    json.ascii(",\"errors\":{\"rejected\":").number(now.failRejected());
    json.ascii(",\"cancelled\":").number(now.failCancelled());
    json.ascii(",\"backend\":").number(now.failBackend());
    json.ascii(",\"other\":").number(now.failOther()).write('}');
  }

  static void queue(ModelFigures.Work work, JsonBuffer json) {
    json.ascii(",\"pending\":").number(work.now().pendingCount());
    json.ascii(",\"executing\":").number(work.now().executingCount());
    ConsoleJson.decimal(json.ascii(",\"busy\":"), work.busy());
  }

  static void memory(MemoryUsage memory, JsonBuffer json) {
    json.ascii(",\"memory\":{\"weights_bytes\":").number(memory.weights());
    json.ascii(",\"working_bytes\":").number(memory.working());
    json.ascii(",\"pool_bytes\":").number(memory.pool()).write('}');
  }

  static void sequences(SequenceStatistics sequences, JsonBuffer json) {
    json.ascii("{\"slots\":").number(sequences.slots());
    json.ascii(",\"active\":").number(sequences.active());
    json.ascii(",\"backlog\":").number(sequences.backlog());
    json.ascii(",\"started\":").number(sequences.started());
    json.ascii(",\"ended\":").number(sequences.ended());
    json.ascii(",\"idle_ended\":").number(sequences.idleEnded());
    json.ascii(",\"state_bytes\":").number(sequences.stateBytes()).write('}');
  }
}
