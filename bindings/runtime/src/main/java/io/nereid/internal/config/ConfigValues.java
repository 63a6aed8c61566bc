package io.nereid.internal.config;

import com.google.protobuf.Descriptors.FieldDescriptor;
import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelConfiguration.Value;
import io.nereid.proto.ModelConfig;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Lists the values of a configuration, each with its origin. */
final class ConfigValues extends ConfigWalk {

  /** The fields that are shown although they are 0 or false. */
  private static final Set<String> ALWAYS_SHOWN =
      Set.of(
          "ModelConfig.max_batch_size",
          "ModelInstanceGroup.kind",
          "ModelDynamicBatching.max_queue_delay_microseconds",
          "ModelDynamicBatching.preserve_ordering",
          "ModelDynamicBatching.priority_levels",
          "ModelQueuePolicy.timeout_action",
          "ModelQueuePolicy.default_timeout_microseconds",
          "ModelQueuePolicy.allow_timeout_override",
          "ModelQueuePolicy.max_queue_size",
          "ModelTransactionPolicy.decoupled",
          "ModelResponseCache.enable");

  private final Map<String, Origin> decided;
  private final Deque<Origin> inherited = new ArrayDeque<>();
  private final List<Value> values = new ArrayList<>();

  private ConfigValues(Map<String, Origin> decided, Origin otherwise) {
    this.decided = decided;
    inherited.push(otherwise);
  }

  /**
   * Lists the values of a configuration that is partly written.
   *
   * @param decided origins of values that are not as written, by path; each holds for all values
   *     below the path as well
   */
  static List<Value> of(ConfigNode root, Map<String, Origin> decided) {
    ConfigValues all = new ConfigValues(decided, Origin.DEFAULT);
    all.walk(root, "");
    return all.values;
  }

  /** The values of a configuration that was made from what a program gave. */
  static List<Value> ofCode(ModelConfig config) {
    ConfigValues all = new ConfigValues(Map.of(), Origin.CODE);
    all.walk(ConfigNode.root(config, new ConfigSource.Text("")), "");
    return all.values;
  }

  @Override
  boolean isShown(ConfigNode node, FieldDescriptor field, String path) {
    return ALWAYS_SHOWN.contains(FieldRules.key(field))
        || (!field.hasPresence() && node.isWritten(field, 0));
  }

  @Override
  void begin(FieldDescriptor field, String path) {
    inherited.push(decided.getOrDefault(path, inherited.peek()));
  }

  @Override
  void end() {
    inherited.pop();
  }

  @Override
  void value(ConfigNode node, FieldDescriptor field, int index, String path, String text) {
    if (ConfigNode.isKey(field)) {
      return; // the path contains the key
    }
    Origin origin = decided.get(path);
    if (origin == null && node.isWritten(field, index)) {
      origin = node.source().origin();
    }
    String place = "";
    if (origin == null) {
      origin = inherited.peek();
    } else if (origin == Origin.FILE) {
      place = node.place(field, index);
    }
    values.add(new Value(path, text, origin, place));
  }
}
