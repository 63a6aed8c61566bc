package io.nereid.text;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.InferResponse;
import io.nereid.JsonEndpoint;
import io.nereid.Model;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * The endpoint for embeddings of OpenAI's clients. Any model with an input {@code text} and an
 * output {@code embedding} answers them.
 */
public final class EmbeddingsEndpoint implements JsonEndpoint {

  /** Called by the service loader. */
  public EmbeddingsEndpoint() {}

  @Override
  public String path() {
    return "/v1/embeddings";
  }

  @Override
  public boolean infers() {
    return true;
  }

  @Override
  public String description() {
    return """
    {"summary":"Vectors of texts, as OpenAI's clients ask for them",
     "requestBody":{"content":{"application/json":{"schema":{"type":"object",
       "properties":{"model":{"type":"string"},"input":{"type":["string","array"]},
         "encoding_format":{"type":"string","enum":["float","base64"]},
         "dimensions":{"type":"integer"},"user":{"type":"string"}},
       "required":["model","input"]}}}},
     "responses":{"200":{"description":"The vectors",
       "content":{"application/json":{"schema":{"type":"object","properties":{
         "object":{"type":"string"},"data":{"type":"array","items":{"type":"object"}},
         "model":{"type":"string"},"usage":{"type":"object"}}}}}},
       "default":{"description":"Why not"}}}
    """;
  }

  @Override
  public void answer(Call call, OutputStream reply) throws IOException {
    Body body = new Body(call);
    EndpointJson.read(call, body::readMember);
    RefusedMember.check(
        body.model.isEmpty() || !body.texts.isEmpty() || !body.tokens.isEmpty(),
        "input",
        "expected 'input' to have at least one input");
    Model model = EndpointJson.model(call, body.model);
    RefusedMember.check(
        EndpointJson.embeds(model.spec()),
        "model",
        "expected a model with an input 'text' of BYTES and an output 'embedding' of FP32, and '"
            + model.name()
            + "' has none");
    try (ModelRequests requests = new ModelRequests(model, body.timeoutUs)) {
      prepare(model, body, requests);
      write(body, requests, requests.send(call), reply);
    }
  }

  /**
   * Makes as few requests as the model's batches allow: texts share requests, token lists have one
   * each.
   */
  private static void prepare(Model model, Body body, ModelRequests requests) {
    for (int i = 0; i < body.texts.size(); i += requests.most()) {
      int end = Math.min(body.texts.size(), i + requests.most());
      requests.add().input("text", requests.texts(body.texts.subList(i, end)));
    }
    RefusedMember.check(
        body.tokens.isEmpty() || EndpointJson.has(model.spec().inputs(), "tokens", DataType.INT64),
        "input",
        "expected texts, model '" + model.name() + "' takes no tokens");
    for (long[] tokens : body.tokens) {
      long[] shape =
          model.spec().maxBatchSize() > 0
              ? new long[] {1, tokens.length}
              : new long[] {tokens.length};
      requests.add().input("tokens", Tensor.ofLongs(tokens, shape));
    }
  }

  private static void write(
      Body body, ModelRequests requests, List<InferResponse> responses, OutputStream reply) {
    try (JsonGenerator json = EndpointJson.writer(reply)) {
      json.writeStartObject().writeStringProperty("object", "list");
      json.writeName("data").writeStartArray();
      int index = 0;
      for (InferResponse response : responses) {
        Tensor vectors = response.output("embedding");
        long size = vectors.dim(vectors.rank() - 1);
        RefusedMember.check(
            body.dimensions == 0 || body.dimensions == size,
            "dimensions",
            "expected 'dimensions' to be %s, the model makes no others, got %s"
                .formatted(size, body.dimensions));
        for (long row = 0; row < vectors.elementCount() / size; row++) {
          json.writeStartObject().writeStringProperty("object", "embedding");
          json.writeNumberProperty("index", index++).writeName("embedding");
          write(vectors.segment(), row * size, size, body.base64, json);
          json.writeEndObject();
        }
      }
      json.writeEndArray().writeStringProperty("model", body.model);
      long tokens = requests.sum("prompt_tokens");
      json.writeName("usage").writeStartObject();
      json.writeNumberProperty("prompt_tokens", tokens);
      json.writeNumberProperty("total_tokens", tokens);
      json.writeEndObject().writeEndObject();
    }
  }

  private static void write(
      MemorySegment values, long first, long size, boolean base64, JsonGenerator json) {
    if (base64) {
      byte[] bytes = values.asSlice(first * Float.BYTES, size * Float.BYTES).toArray(JAVA_BYTE);
      json.writeString(Base64.getEncoder().encodeToString(bytes)); // both are little-endian
      return;
    }
    json.writeStartArray();
    for (long i = first; i < first + size; i++) {
      json.writeNumber(values.getAtIndex(JAVA_FLOAT, i));
    }
    json.writeEndArray();
  }

  @Override
  public void fail(int status, String message, Throwable cause, OutputStream reply) {
    EndpointJson.fail(status, message, cause, reply);
  }

  /** The body of one request. */
  private static final class Body {

    private final Call call;
    private String model = "";
    private boolean base64;
    private long dimensions; // 0: the model's own number
    private long timeoutUs; // 0: none

    /** One of the two lists has an entry for each input, the other is empty. */
    private final List<String> texts = new ArrayList<>();

    private final List<long[]> tokens = new ArrayList<>();

    Body(Call call) {
      this.call = call;
    }

    void readMember(String name, JsonParser value) {
      switch (name) {
        case "model" -> model = EndpointJson.string(name, value);
        case "input" -> readInput(value);
        case "encoding_format" -> {
          String format = EndpointJson.string(name, value);
          RefusedMember.check(
              Set.of("float", "base64").contains(format),
              name,
              "expected 'encoding_format' to be 'float' or 'base64', got '" + format + "'");
          base64 = format.equals("base64");
        }
        case "dimensions" -> dimensions = EndpointJson.positive(name, value);
        case "user" -> EndpointJson.string(name, value); // ignored: the client's own note
        case "timeout" -> timeoutUs = EndpointJson.positive(name, value);
        default -> throw EndpointJson.unknown(name);
      }
    }

    private void readInput(JsonParser value) {
      texts.clear();
      tokens.clear();
      if (value.hasToken(JsonToken.VALUE_STRING)) {
        addText(value);
        return;
      }
      expect(value.hasToken(JsonToken.START_ARRAY), value);
      JsonToken first = value.nextToken();
      if (first == JsonToken.VALUE_NUMBER_INT) {
        addTokens(value);
        return;
      }
      for (JsonToken token = first; token != JsonToken.END_ARRAY; token = value.nextToken()) {
        if (first == JsonToken.VALUE_STRING) {
          expect(token == JsonToken.VALUE_STRING, value);
          addText(value);
        } else {
          expect(token == JsonToken.START_ARRAY, value);
          value.nextToken();
          addTokens(value);
        }
      }
    }

    private void addText(JsonParser value) {
      checkCount(texts.size());
      texts.add(EndpointJson.text(call, "input", value));
    }

    /** Adds the tokens of the array whose first element, or end, was read. */
    private void addTokens(JsonParser value) {
      checkCount(tokens.size());
      long[] numbers = new long[16];
      int count = 0;
      for (; !value.hasToken(JsonToken.END_ARRAY); value.nextToken()) {
        expect(value.hasToken(JsonToken.VALUE_NUMBER_INT), value);
        if (count == numbers.length) {
          numbers = Arrays.copyOf(numbers, 2 * count);
          call.takeHeap((long) count * Long.BYTES);
        }
        numbers[count++] = value.getLongValue();
      }
      RefusedMember.check(
          count > 0, "input", "expected arrays of tokens in 'input' that are not empty");
      tokens.add(Arrays.copyOf(numbers, count));
    }

    private static void expect(boolean holds, JsonParser value) {
      EndpointJson.expect(
          holds,
          "input",
          "a string, an array of strings, an array of token numbers or an array of such arrays",
          value);
    }

    private static void checkCount(int before) {
      RefusedMember.check(
          before < EndpointJson.MOST_TEXTS,
          "input",
          "expected at most " + EndpointJson.MOST_TEXTS + " inputs in a request, got more");
    }
  }
}
