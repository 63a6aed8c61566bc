package io.nereid.triton;

import static io.nereid.internal.JsonText.object;

import io.nereid.internal.JsonText;
import io.nereid.model.HostPolicy;
import io.nereid.model.InstancePlacement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Writes JSON for plug-ins. */
final class PluginJson {

  private PluginJson() {}

  /**
   * Writes the instances of a model.
   *
   * @param policy the name of an instance's host policy
   */
  static String instances(
      List<InstancePlacement> placements, Function<InstancePlacement, String> policy) {
    Map<String, Integer> next = new HashMap<>();
    List<JsonText.Members> instances = new ArrayList<>();
    for (InstancePlacement placement : placements) {
      // Instances of a group have the same names on each of its devices.
      String group = placement.group().name();
      int number = next.merge(group + "/" + placement.device(), 1, Integer::sum) - 1;
      instances.add(
          object()
              .with("name", group + "_" + number)
              .with("kind", "KIND_" + kind(placement))
              .with("device", placement.device().orElse(0))
              .with("host_policy", policy.apply(placement))
              .with("profiles", placement.group().profiles())
              .with("passive", placement.group().passive())
              .with("secondary_devices", secondaryDevices(placement)));
    }
    return JsonText.of(instances);
  }

  private static List<JsonText.Members> secondaryDevices(InstancePlacement placement) {
    return placement.group().secondaryDevices().stream()
        .map(device ->
            object().with("kind", "KIND_" + device.kind()).with("device", device.device()))
        .toList();
  }

  private static String kind(InstancePlacement placement) {
    return switch (placement.group().kind()) {
      case MODEL -> "MODEL";
      case CPU, GPU, AUTO -> placement.device().isPresent() ? "GPU" : "CPU";
    };
  }

  /** Writes host policies by name, with the settings of Triton's flag. */
  static String policies(Map<String, HostPolicy> policies) {
    Map<String, Object> all = new HashMap<>();
    policies.forEach((name, policy) -> {
      JsonText.Members settings = object();
      policy.numaNode().ifPresent(node -> settings.with("numa-node", Integer.toString(node)));
      if (!policy.cores().isEmpty()) {
        settings.with(
            "cpu-cores",
            policy.cores().stream().map(String::valueOf).collect(Collectors.joining(",")));
      }
      all.put(name, settings);
    });
    return JsonText.of(all);
  }
}
