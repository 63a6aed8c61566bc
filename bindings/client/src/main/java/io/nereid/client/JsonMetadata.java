package io.nereid.client;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What servers tell about themselves over HTTP. Members that are missing are empty or zero. */
final class JsonMetadata {

  private JsonMetadata() {}

  /** Whether a reply with status 200 says that it is so; many have no body. */
  static boolean isTrue(HttpReply reply, String member) {
    String text = new String(reply.text(), 0, Math.min(1, reply.textLength()));
    if (!text.equals("{")) {
      return true;
    }
    Object tree = JsonReading.tree(reply.text(), reply.textLength());
    return !(tree instanceof Map<?, ?> members && Boolean.FALSE.equals(members.get(member)));
  }

  static ServerMetadata server(HttpReply reply) {
    Members members = object(reply);
    return new ServerMetadata(
        members.string("name"), members.string("version"), members.strings("extensions"));
  }

  static ModelMetadata model(HttpReply reply) {
    Members members = object(reply);
    return new ModelMetadata(
        members.string("name"),
        members.strings("versions"),
        members.string("platform"),
        members.list("inputs", JsonMetadata::tensor),
        members.list("outputs", JsonMetadata::tensor));
  }

  private static TensorMetadata tensor(Members members) {
    List<Long> shape = new ArrayList<>();
    for (Object dim : members.elements("shape")) {
      if (!(dim instanceof Long size)) {
        throw InferenceException.malformed("a dimension of a tensor is " + dim);
      }
      shape.add(size);
    }
    return new TensorMetadata(
        members.string("name"), members.string("datatype"), List.copyOf(shape));
  }

  static List<ModelIndexEntry> index(HttpReply reply) {
    return map(
        array(reply),
        members ->
            new ModelIndexEntry(
                members.string("name"),
                members.string("version"),
                members.string("state"),
                members.string("reason")));
  }

  static List<SharedMemoryStatus> sharedMemory(HttpReply reply) {
    return map(
        array(reply),
        members ->
            new SharedMemoryStatus(
                members.string("name"),
                members.string("key"),
                members.number("offset"),
                members.number("byte_size")));
  }

  static List<ModelStatistics> statistics(HttpReply reply) {
    return object(reply).list("model_stats", JsonMetadata::statistics);
  }

  private static ModelStatistics statistics(Members members) {
    Members sums = members.object("inference_stats");
    long last = members.number("last_inference");
    return new ModelStatistics(
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
                new BatchStatistics(
                    batch.number("batch_size"),
                    duration(batch, "compute_input"),
                    duration(batch, "compute_infer"),
                    duration(batch, "compute_output"))));
  }

  private static DurationStatistic duration(Members sums, String name) {
    Members members = sums.object(name);
    return new DurationStatistic(members.number("count"), members.number("ns"));
  }

  // ---- JSON values -----------------------------------------------------------------------------

  private static Members object(HttpReply reply) {
    return members(JsonReading.tree(reply.text(), reply.textLength()));
  }

  private static Members members(Object value) {
    if (value instanceof Map<?, ?> members) {
      return new Members(members);
    }
    throw InferenceException.malformed("expected a JSON object");
  }

  private static List<?> array(HttpReply reply) {
    if (JsonReading.tree(reply.text(), reply.textLength()) instanceof List<?> elements) {
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

  /** A JSON object. */
  private record Members(Map<?, ?> values) {

    String string(String name) {
      Object value = values.get(name);
      return value == null ? "" : value.toString();
    }

    long number(String name) {
      return switch (values.get(name)) {
        case null -> 0;
        case Number number -> number.longValue();
        case Object other ->
            throw InferenceException.malformed("'" + name + "' is no number: " + other);
      };
    }

    List<?> elements(String name) {
      return switch (values.get(name)) {
        case null -> List.of();
        case List<?> elements -> elements;
        case Object other ->
            throw InferenceException.malformed("'" + name + "' is no array: " + other);
      };
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
