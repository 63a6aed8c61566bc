package io.nereid.text;

import io.nereid.InferResponse;
import io.nereid.JsonEndpoint;
import io.nereid.Model;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * The endpoint for ranking texts by a query, of clients of Cohere, Jina and vLLM. Any model with
 * inputs {@code query} and {@code text} and an output {@code score} answers them.
 */
public final class RerankEndpoint implements JsonEndpoint {

  private static final String DOCUMENTS = "documents";

  /** Called by the service loader. */
  public RerankEndpoint() {}

  @Override
  public String path() {
    return "/v1/rerank";
  }

  @Override
  public boolean infers() {
    return true;
  }

  @Override
  public String description() {
    return """
    {"summary":"How well texts answer a query, as clients of Cohere, Jina and vLLM ask",
     "requestBody":{"content":{"application/json":{"schema":{"type":"object",
       "properties":{"model":{"type":"string"},"query":{"type":"string"},
         "documents":{"type":"array","items":{"type":["string","object"]}},
         "top_n":{"type":"integer"},"return_documents":{"type":"boolean"}},
       "required":["model","query","documents"]}}}},
     "responses":{"200":{"description":"The best first",
       "content":{"application/json":{"schema":{"type":"object","properties":{
         "model":{"type":"string"},"usage":{"type":"object"},
         "results":{"type":"array","items":{"type":"object","properties":{
           "index":{"type":"integer"},"relevance_score":{"type":"number"},
           "document":{"type":"object"}}}}}}}}},
       "default":{"description":"Why not"}}}
    """;
  }

  @Override
  public void answer(Call call, OutputStream reply) throws IOException {
    Body body = new Body(call);
    EndpointJson.read(call, body::readMember);
    Model model = EndpointJson.model(call, body.model);
    RefusedMember.check(!body.query.isEmpty(), "query", "expected a 'query'");
    RefusedMember.check(
        !body.texts.isEmpty(), DOCUMENTS, "expected 'documents' to have at least one text");
    RefusedMember.check(
        EndpointJson.ranks(model.spec()),
        "model",
        "expected a model with inputs 'query' and 'text' of BYTES and an output 'score' of FP32,"
            + " and '"
            + model.name()
            + "' has none");
    call.takeHeap(2L * body.query.length() * body.texts.size());
    try (ModelRequests requests = new ModelRequests(model, body.timeoutUs)) {
      for (int i = 0; i < body.texts.size(); i += requests.most()) {
        List<String> some = body.texts.subList(i, Math.min(body.texts.size(), i + requests.most()));
        requests
            .add()
            .input("query", requests.texts(Collections.nCopies(some.size(), body.query)))
            .input("text", requests.texts(some));
      }
      write(body, scores(body.texts.size(), requests.send(call)), requests, reply);
    }
  }

  private static float[] scores(int count, List<InferResponse> responses) {
    float[] scores = new float[count];
    int next = 0;
    for (InferResponse response : responses) {
      Tensor some = response.output("score");
      for (int i = 0; i < some.elementCount() && next < count; i++) {
        scores[next++] = some.floatAt(i);
      }
    }
    return scores;
  }

  private static void write(Body body, float[] scores, ModelRequests requests, OutputStream reply) {
    List<Integer> order =
        IntStream.range(0, scores.length)
            .boxed()
            .sorted(Comparator.comparingDouble(text -> -scores[text]))
            .limit(body.most)
            .toList();
    try (JsonGenerator json = EndpointJson.writer(reply)) {
      json.writeStartObject().writeStringProperty("model", body.model);
      json.writeName("results").writeStartArray();
      for (int text : order) {
        json.writeStartObject().writeNumberProperty("index", text);
        json.writeNumberProperty("relevance_score", scores[text]);
        if (body.returnsTexts) {
          json.writeName("document").writeStartObject();
          json.writeStringProperty("text", body.texts.get(text)).writeEndObject();
        }
        json.writeEndObject();
      }
      json.writeEndArray().writeName("usage").writeStartObject();
      json.writeNumberProperty("total_tokens", requests.sum("prompt_tokens"));
      json.writeEndObject().writeEndObject();
    }
  }

  @Override
  public void fail(int status, String message, Throwable cause, OutputStream reply) {
    EndpointJson.fail(status, message, cause, reply);
  }

  /** The body of one request. */
  private static final class Body {

    private final Call call;
    private String model = "";
    private String query = "";
    private long most = EndpointJson.MOST_TEXTS;
    private boolean returnsTexts;
    private long timeoutUs; // 0: none
    private final List<String> texts = new ArrayList<>();

    Body(Call call) {
      this.call = call;
    }

    void readMember(String name, JsonParser value) {
      switch (name) {
        case "model" -> model = EndpointJson.string(name, value);
        case "query" -> query = EndpointJson.text(call, name, value);
        case DOCUMENTS -> readTexts(value);
        case "top_n" -> most = EndpointJson.positive(name, value);
        case "return_documents" -> returnsTexts = EndpointJson.bool(name, value);
        case "user" -> EndpointJson.string(name, value); // ignored: the client's own note
        case "timeout" -> timeoutUs = EndpointJson.positive(name, value);
        default -> throw EndpointJson.unknown(name);
      }
    }

    private void readTexts(JsonParser value) {
      texts.clear();
      EndpointJson.expect(
          value.hasToken(JsonToken.START_ARRAY), DOCUMENTS, "an array of texts", value);
      while (value.nextToken() != JsonToken.END_ARRAY) {
        RefusedMember.check(
            texts.size() < EndpointJson.MOST_TEXTS,
            DOCUMENTS,
            "expected at most " + EndpointJson.MOST_TEXTS + " documents, got more");
        if (value.hasToken(JsonToken.START_OBJECT)) {
          readObject(value);
        } else {
          texts.add(EndpointJson.text(call, DOCUMENTS, value));
        }
      }
    }

    /** Reads a document that is an object with a text. */
    private void readObject(JsonParser value) {
      int before = texts.size();
      while (value.nextToken() != JsonToken.END_OBJECT) {
        RefusedMember.check(
            value.currentName().equals("text") && texts.size() == before,
            DOCUMENTS,
            "expected documents that are texts or objects with a 'text' alone");
        value.nextToken();
        texts.add(EndpointJson.text(call, DOCUMENTS, value));
      }
      RefusedMember.check(
          texts.size() > before, DOCUMENTS, "expected documents that have a 'text'");
    }
  }
}
