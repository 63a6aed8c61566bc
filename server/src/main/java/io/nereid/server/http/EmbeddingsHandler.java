package io.nereid.server.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.json.JsonReader;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * The endpoints that OpenAI's clients ask for embeddings, one request after the other, for one
 * connection. Any model with an input "text" and an output "embedding" answers them.
 */
final class EmbeddingsHandler {

  private static final String TEXT = "text";
  private static final String TOKENS = "tokens";
  private static final String EMBEDDING = "embedding";
  private static final String COUNT = "prompt_tokens";

  private final HttpContext context;
  private final HttpExchange exchange;
  private final Function<Route, Model> models;
  private EmbeddingsBody asked; // of the present request; null: none, or not read yet
  private String param; // that a failure is about, where no member of the body tells

  /** For the requests of one exchange; {@code models} gives the one that is to answer. */
  EmbeddingsHandler(HttpContext context, HttpExchange exchange, Function<Route, Model> models) {
    this.context = context;
    this.exchange = exchange;
    this.models = models;
  }

  /** Writes the models that there are vectors from. */
  void models(JsonBuffer json) {
    json.ascii("{\"object\":\"list\",\"data\":[");
    List<String> names =
        context.nereid().models().stream()
            .filter(model -> model.state() == ModelState.READY && embeds(model.spec()))
            .map(Model::name)
            .distinct()
            .toList();
    String before = "{\"id\":";
    for (String name : names) {
      json.ascii(before).string(name);
      json.ascii(",\"object\":\"model\",\"created\":0,\"owned_by\":\"nereid\"}");
      before = ",{\"id\":";
    }
    json.ascii("]}");
  }

  /** Writes the vectors of what the body has. */
  void embeddings(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    asked = new EmbeddingsBody();
    asked.read(new JsonReader(context.limits().jsonDepth()).reset(body, Long.MAX_VALUE));
    param = "model";
    Model model = models.apply(Route.of(Endpoint.EMBEDDINGS, asked.model(), 0));
    check(
        embeds(model.spec()),
        "expected a model with an input 'text' of BYTES and an output 'embedding' of FP32, and '"
            + model.name()
            + "' has none");
    param = null;
    List<InferRequest> requests = new ArrayList<>();
    List<InferResponse> responses = new ArrayList<>();
    try {
      prepare(model, head, requests);
      run(requests, responses);
      write(model, responses, json);
    } finally {
      responses.forEach(InferResponse::close);
      requests.forEach(InferRequest::close);
    }
  }

  private static boolean embeds(ModelSpec spec) {
    return find(spec.inputs(), TEXT, DataType.BYTES)
        && find(spec.outputs(), EMBEDDING, DataType.FP32)
        && !spec.decoupled();
  }

  private static boolean find(List<TensorSpec> tensors, String name, DataType type) {
    return tensors.stream()
        .anyMatch(tensor -> tensor.name().equals(name) && tensor.dataType() == type);
  }

  // ---- Requests --------------------------------------------------------------------------------

  /** Makes as few requests as the model's batches allow: texts share one, tokens have each one. */
  private void prepare(Model model, ProtocolHead head, List<InferRequest> requests) {
    ModelSpec spec = model.spec();
    boolean batches = spec.maxBatchSize() > 0;
    List<String> texts = asked.texts();
    int most = Math.clamp(spec.maxBatchSize(), 1, EmbeddingsBody.MOST_INPUTS);
    for (int i = 0; i < texts.size(); i += most) {
      Tensor some = Tensor.of(texts.subList(i, Math.min(texts.size(), i + most)));
      add(model, head, TEXT, batches ? some.reshape(some.dim(0), 1) : some, requests);
    }
    param = "input";
    check(
        asked.tokens().isEmpty() || find(spec.inputs(), TOKENS, DataType.INT64),
        "expected texts, model '" + model.name() + "' takes no tokens");
    for (long[] tokens : asked.tokens()) {
      long[] shape = batches ? new long[] {1, tokens.length} : new long[] {tokens.length};
      add(model, head, TOKENS, Tensor.ofLongs(tokens, shape), requests);
    }
    param = null;
  }

  private void add(
      Model model, ProtocolHead head, String input, Tensor values, List<InferRequest> requests) {
    InferRequest request = model.newRequest();
    requests.add(request);
    request.input(input, values);
    if (asked.timeoutUs() > 0) {
      request.timeout(Duration.of(asked.timeoutUs(), ChronoUnit.MICROS));
    }
    HeaderForwarding.apply(head.forwarded(), request);
  }

  /** Has all answered at the same time; when one fails, or the client goes, none is waited for. */
  private void run(List<InferRequest> requests, List<InferResponse> responses) {
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    RuntimeException failure = null;
    exchange.connection().running(() -> requests.forEach(InferRequest::cancel));
    try {
      requests.forEach(request -> answers.add(request.inferAsync()));
    } catch (RuntimeException e) {
      failure = e;
    }
    for (CompletableFuture<InferResponse> answer : answers) {
      try {
        responses.add(answer.join());
      } catch (CompletionException e) {
        if (failure == null) {
          failure = e.getCause() instanceof RuntimeException cause ? cause : e;
          requests.forEach(InferRequest::cancel);
        }
      }
    }
    exchange.connection().answered();
    if (failure != null) {
      throw failure;
    }
  }

  // ---- The reply -------------------------------------------------------------------------------

  private void write(Model model, List<InferResponse> responses, JsonBuffer json) {
    long tokens = 0;
    long index = 0;
    boolean counts = find(model.spec().outputs(), COUNT, DataType.INT64);
    json.ascii("{\"object\":\"list\",\"data\":[");
    for (InferResponse response : responses) {
      Tensor vectors = response.output(EMBEDDING);
      long size = vectors.dim(vectors.rank() - 1);
      param = "dimensions";
      check(
          asked.dimensions() == 0 || asked.dimensions() == size,
          "expected 'dimensions' to be "
              + size
              + ", the model makes no others, got "
              + asked.dimensions());
      for (long row = 0; row < vectors.elementCount() / size; row++) {
        json.ascii(index == 0 ? "{" : ",{").ascii("\"object\":\"embedding\",\"index\":");
        json.number(index++).ascii(",\"embedding\":");
        write(vectors.segment(), row * size, size, json);
        json.write('}');
      }
      tokens += counts ? sum(response.output(COUNT)) : 0;
    }
    param = null;
    json.ascii("],\"model\":").string(model.name()).ascii(",\"usage\":{\"prompt_tokens\":");
    json.number(tokens).ascii(",\"total_tokens\":").number(tokens).ascii("}}");
  }

  private void write(MemorySegment values, long first, long size, JsonBuffer json) {
    if (asked.base64()) {
      byte[] bytes = values.asSlice(first * Float.BYTES, size * Float.BYTES).toArray(JAVA_BYTE);
      byte[] text = Base64.getEncoder().encode(bytes); // both are little-endian
      json.write('"');
      json.write(text, 0, text.length);
      json.write('"');
      return;
    }
    for (long i = 0; i < size; i++) {
      json.write(i == 0 ? '[' : ',');
      json.number(values.getAtIndex(JAVA_FLOAT, first + i));
    }
    json.write(']');
  }

  private static long sum(Tensor counts) {
    long sum = 0;
    for (int i = 0; i < counts.elementCount(); i++) {
      sum += counts.longAt(i);
    }
    return sum;
  }

  /** Writes a failure as OpenAI's clients read one. */
  void fail(HttpFailure failure, JsonBuffer json) {
    Status status = failure.status();
    String about = param != null || asked == null ? param : asked.member();
    String code =
        switch (status) {
          case UNAUTHORIZED -> "\"invalid_api_key\"";
          case NOT_FOUND -> "model".equals(about) ? "\"model_not_found\"" : "null";
          case UNAVAILABLE -> "\"server_overloaded\"";
          case DEADLINE, REQUEST_TIMEOUT -> "\"timeout\"";
          default -> "null";
        };
    String message = failure.getMessage();
    json.ascii("{\"error\":{\"message\":").string(message == null ? status.toString() : message);
    json.ascii(",\"type\":\"");
    json.ascii(status.code() < 500 ? "invalid_request_error" : "server_error");
    json.ascii("\",\"param\":");
    if (about == null) {
      json.ascii("null");
    } else {
      json.string(about);
    }
    json.ascii(",\"code\":").ascii(code).ascii("}}");
  }

  /** Forgets what the request was. */
  void end() {
    asked = null;
    param = null;
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw HttpFailure.badRequest(otherwise);
    }
  }
}
