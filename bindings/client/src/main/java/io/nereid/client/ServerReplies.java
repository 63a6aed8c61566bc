package io.nereid.client;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Reads servers' metadata, statistics and settings from a tree of maps and lists: over HTTP the
 * JSON of a reply, over gRPC a message by field names. Members that are missing are empty or zero.
 */
final class ServerReplies {

  private ServerReplies() {}

  static ServerMetadata server(Object tree) {
    Members members = members(tree);
    return new ServerMetadata(
        members.string("name"), members.string("version"), members.strings("extensions"));
  }

  static ModelMetadata model(Object tree) {
    Members members = members(tree);
    return new ModelMetadata(
        members.string("name"),
        members.strings("versions"),
        members.string("platform"),
        members.list("inputs", ServerReplies::tensor),
        members.list("outputs", ServerReplies::tensor));
  }

  private static ModelMetadata.TensorMetadata tensor(Members members) {
    List<Long> shape = new ArrayList<>();
    for (Object dim : members.elements("shape")) {
      if (!(dim instanceof Long size)) {
        throw InferenceException.malformed("a dimension of a tensor is " + dim);
      }
      shape.add(size);
    }
    return new ModelMetadata.TensorMetadata(
        members.string("name"), members.string("datatype"), List.copyOf(shape));
  }

  static List<IndexedModel> index(Object tree) {
    return map(
        array(tree),
        members ->
            new IndexedModel(
                members.string("name"),
                members.string("version"),
                members.string("state"),
                members.string("reason")));
  }

  static List<SharedMemory.Registration> sharedMemory(Object tree) {
    return map(
        array(tree),
        members ->
            new SharedMemory.Registration(
                members.string("name"),
                members.string("key"),
                members.number("offset"),
                members.number("byte_size")));
  }

  static List<ModelUsage> statistics(Object tree) {
    return members(tree).list("model_stats", ServerReplies::statistics);
  }

  /** The members of a model's statistics that every server has. */
  private static final Set<String> OF_THE_PROTOCOL =
      Set.of(
          "name",
          "version",
          "last_inference",
          "inference_count",
          "execution_count",
          "inference_stats",
          "batch_stats",
          "memory_usage",
          "response_stats");

  private static ModelUsage statistics(Members members) {
    Members sums = members.object("inference_stats");
    long last = members.number("last_inference");
    return new ModelUsage(
        members.string("name"),
        members.string("version"),
        last == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(last)),
        members.number("inference_count"),
        members.number("execution_count"),
        duration(sums, "success"),
        duration(sums, "fail"),
        duration(sums, "queue"),
        duration(sums, "compute_input"),
        duration(sums, "compute_infer"),
        duration(sums, "compute_output"),
        duration(sums, "cache_hit"),
        duration(sums, "cache_miss"),
        members.list(
            "batch_stats",
            batch ->
                new ModelUsage.Batches(
                    batch.number("batch_size"),
                    duration(batch, "compute_input"),
                    duration(batch, "compute_infer"),
                    duration(batch, "compute_output"))),
        members.others(OF_THE_PROTOCOL));
  }

  private static ModelUsage.Times duration(Members sums, String name) {
    Members members = sums.object(name);
    return new ModelUsage.Times(members.number("count"), members.number("ns"));
  }

  private static Members members(Object value) {
    if (value instanceof Map<?, ?> members) {
      return new Members(members);
    }
    throw InferenceException.malformed("expected a JSON object");
  }

  private static List<?> array(Object tree) {
    if (tree instanceof List<?> elements) {
      return elements;
    }
    throw InferenceException.malformed("expected a JSON array");
  }

  private static <T> List<T> map(List<?> elements, Function<Members, T> reader) {
    List<T> values = new ArrayList<>(elements.size());
    for (Object element : elements) {
      values.add(reader.apply(members(element)));
    }
    return List.copyOf(values);
  }

  /** An object of JSON, or a message. */
  private record Members(Map<?, ?> values) {

    /** The members with other names than these. */
    Map<String, Object> others(Set<String> known) {
      Map<String, Object> others = new LinkedHashMap<>();
      values.forEach((name, value) -> {
        if (!known.contains(name.toString())) {
          others.put(name.toString(), value);
        }
      });
      return Collections.unmodifiableMap(others);
    }

    String string(String name) {
      Object value = values.get(name);
      return value == null ? "" : value.toString();
    }

    long number(String name) {
      Object value = values.get(name);
      if (value == null) {
        return 0;
      }
      if (value instanceof Number number) {
        return number.longValue();
      }
      throw InferenceException.malformed("'" + name + "' is no number: " + value);
    }

    List<?> elements(String name) {
      Object value = values.get(name);
      if (value == null) {
        return List.of();
      }
      if (value instanceof List<?> elements) {
        return elements;
      }
      throw InferenceException.malformed("'" + name + "' is no array: " + value);
    }

    List<String> strings(String name) {
      return elements(name).stream().map(String::valueOf).toList();
    }

    Members object(String name) {
      Object value = values.get(name);
      return value == null ? new Members(Map.of()) : members(value);
    }

    <T> List<T> list(String name, Function<Members, T> reader) {
      return map(elements(name), reader);
    }
  }
}
