package io.nereid.internal.backend;

import io.nereid.model.HostPolicy;
import io.nereid.model.InstanceGroup;
import io.nereid.model.InstancePlacement;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes what plug-ins are told in JSON. */
final class PluginJson {

  private static final JsonFactory JSON = new JsonFactory();

  private PluginJson() {}

  /** Settings as an object. */
  static String object(Map<String, String> settings) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      write(json, settings);
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, Map<String, String> settings) {
    json.writeStartObject();
    settings.forEach(json::writeStringProperty);
    json.writeEndObject();
  }

  /**
   * The instances of a model.
   *
   * @param policy the name of an instance's host policy
   */
  static String instances(
      List<InstancePlacement> placements, Function<InstancePlacement, String> policy) {
    Map<String, Integer> next = new HashMap<>();
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartArray();
      for (InstancePlacement placement : placements) {
        // Instances of a group have the same names on each of its devices.
        String group = placement.group().name();
        int number = next.merge(group + "/" + placement.device(), 1, Integer::sum) - 1;
        json.writeStartObject();
        json.writeStringProperty("name", group + "_" + number);
        json.writeStringProperty("kind", "KIND_" + kind(placement));
        json.writeNumberProperty("device", placement.device().orElse(0));
        json.writeStringProperty("host_policy", policy.apply(placement));
        json.writeName("profiles");
        json.writeStartArray();
        placement.group().profiles().forEach(json::writeString);
        json.writeEndArray();
        json.writeBooleanProperty("passive", placement.group().passive());
        json.writeName("secondary_devices");
        json.writeStartArray();
        placement.group().secondaryDevices().forEach(device -> write(json, device));
        json.writeEndArray();
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, InstanceGroup.SecondaryDevice device) {
    json.writeStartObject();
    json.writeStringProperty("kind", "KIND_" + device.kind());
    json.writeNumberProperty("device", device.device());
    json.writeEndObject();
  }

  private static String kind(InstancePlacement placement) {
    return switch (placement.group().kind()) {
      case MODEL -> "MODEL";
      case CPU, GPU, AUTO -> placement.device().isPresent() ? "GPU" : "CPU";
    };
  }

  /** Host policies by name, with the settings that Triton's flag has. */
  static String policies(Map<String, HostPolicy> policies) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      policies.forEach((name, policy) -> {
        json.writeName(name);
        Map<String, String> settings = new HashMap<>();
        policy.numaNode().ifPresent(node -> settings.put("numa-node", Integer.toString(node)));
        if (!policy.cores().isEmpty()) {
          settings.put(
              "cpu-cores",
              policy.cores().stream().map(String::valueOf).collect(Collectors.joining(",")));
        }
        write(json, settings);
      });
      json.writeEndObject();
    }
    return text.toString();
  }
}
