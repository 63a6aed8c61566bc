package io.nereid.text;

import io.nereid.JsonEndpoint;
import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;

/** Reads and writes the JSON of OpenAI's endpoints, including failures. */
final class EndpointJson {

  /** The most texts in a request, as for OpenAI. */
  static final int MOST_TEXTS = 2048;

  /** Does not close the stream, which the server sends when it is complete. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
          .build();

  private static final Map<JsonToken, String> KINDS =
      Map.of(
          JsonToken.START_OBJECT, "an object",
          JsonToken.START_ARRAY, "an array",
          JsonToken.END_ARRAY, "nothing",
          JsonToken.VALUE_STRING, "a string",
          JsonToken.VALUE_NUMBER_INT, "a number",
          JsonToken.VALUE_NUMBER_FLOAT, "a number",
          JsonToken.VALUE_TRUE, "true",
          JsonToken.VALUE_FALSE, "false",
          JsonToken.VALUE_NULL, "null");

  /** Takes a member of the request; the parser is at its value. */
  interface MemberReader {
    void read(String name, JsonParser value);
  }

  private EndpointJson() {}

  // ---- Requests --------------------------------------------------------------------------------

  /** Reads a body, which has to be one object. */
  static void read(JsonEndpoint.Call call, MemberReader members) throws IOException {
    String member = null;
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), call.body())) {
      RefusedMember.check(
          parser.nextToken() == JsonToken.START_OBJECT,
          null,
          "expected an object, got " + kind(parser));
      for (member = parser.nextName(); member != null; member = parser.nextName()) {
        parser.nextToken();
        members.read(member, parser);
      }
      RefusedMember.check(parser.nextToken() == null, null, "expected nothing behind the object");
    } catch (JacksonIOException e) {
      throw e.getCause();
    } catch (JacksonException e) {
      throw new RefusedMember(StatusCode.INVALID_ARGUMENT, member, e.getOriginalMessage());
    }
  }

  /** The kind of the parser's present value, for messages. */
  static String kind(JsonParser value) {
    return KINDS.getOrDefault(value.currentToken(), "nothing");
  }

  static String string(String name, JsonParser value) {
    expect(value.hasToken(JsonToken.VALUE_STRING), name, "a string", value);
    return value.getString();
  }

  static long positive(String name, JsonParser value) {
    expect(value.hasToken(JsonToken.VALUE_NUMBER_INT), name, "a positive number", value);
    long number = value.getLongValue();
    RefusedMember.check(number > 0, name, "expected '" + name + "' to be positive, got " + number);
    return number;
  }

  static boolean bool(String name, JsonParser value) {
    boolean yes = value.hasToken(JsonToken.VALUE_TRUE);
    expect(yes || value.hasToken(JsonToken.VALUE_FALSE), name, "true or false", value);
    return yes;
  }

  /** Reads a text, which counts as heap memory. */
  static String text(JsonEndpoint.Call call, String name, JsonParser value) {
    String text = string(name, value);
    RefusedMember.check(
        !text.isEmpty(), name, "expected texts in '" + name + "' that are not empty");
    call.takeHeap(2L * text.length());
    return text;
  }

  static void expect(boolean holds, String name, String kind, JsonParser value) {
    RefusedMember.check(
        holds, name, "expected '" + name + "' to be " + kind + ", got " + kind(value));
  }

  static RefusedMember unknown(String name) {
    return new RefusedMember(
        StatusCode.INVALID_ARGUMENT, name, "Unrecognized request argument supplied: " + name);
  }

  /** The model of that name; a failure blames the member. */
  static Model model(JsonEndpoint.Call call, String name) {
    RefusedMember.check(!name.isEmpty(), "model", "you must provide a model parameter");
    try {
      return call.model(name);
    } catch (NereidException e) {
      throw new RefusedMember(e.code(), "model", e.getMessage());
    }
  }

  /** True if a model embeds texts. */
  static boolean embeds(ModelSpec spec) {
    return has(spec.inputs(), "text", DataType.BYTES)
        && has(spec.outputs(), "embedding", DataType.FP32)
        && !spec.decoupled();
  }

  /** True if a model ranks texts by queries. */
  static boolean ranks(ModelSpec spec) {
    return has(spec.inputs(), "query", DataType.BYTES)
        && has(spec.inputs(), "text", DataType.BYTES)
        && has(spec.outputs(), "score", DataType.FP32)
        && !spec.decoupled();
  }

  static boolean has(List<TensorSpec> tensors, String name, DataType type) {
    return tensors.stream()
        .anyMatch(tensor -> tensor.name().equals(name) && tensor.dataType() == type);
  }

  // ---- Replies ---------------------------------------------------------------------------------

  /** Writes JSON into a reply. */
  static JsonGenerator writer(OutputStream reply) {
    return JSON.createGenerator(ObjectWriteContext.empty(), reply);
  }

  /** Writes a failure in OpenAI's form. */
  static void fail(int status, String message, Throwable cause, OutputStream reply) {
    String member = cause instanceof RefusedMember refused ? refused.member() : null;
    String code =
        switch (status) {
          case 401 -> "invalid_api_key";
          case 404 -> "model".equals(member) ? "model_not_found" : null;
          case 503 -> "server_overloaded";
          case 408, 504 -> "timeout";
          default -> null;
        };
    try (JsonGenerator json = writer(reply)) {
      json.writeStartObject().writeName("error").writeStartObject();
      json.writeStringProperty("message", message);
      json.writeStringProperty("type", status < 500 ? "invalid_request_error" : "server_error");
      json.writeStringProperty("param", member).writeStringProperty("code", code);
      json.writeEndObject().writeEndObject();
    }
  }
}
