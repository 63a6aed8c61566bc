package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.ResponseStream;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.server.http.seam.ClientGoneException;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.json.JsonException;
import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.types.DataType;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** Serves the generate extension for one connection, one request after the other. */
final class GenerateHandler {

  private static final String EVENT_START = "data: ";
  private static final String EVENT_END = "\n\n";

  private final HttpContext context;
  private final RequestInHand handler;
  private final RequestLog log;

  GenerateHandler(HttpContext context, RequestInHand handler, RequestLog log) {
    this.context = context;
    this.handler = handler;
    this.log = log;
  }

  /** Writes the only response of a request. */
  void generate(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    try (InferRequest request = read(head, body);
        ResponseStream responses = send(request)) {
      try (InferResponse response = next(request, responses)) {
        if (response == null) {
          throw notOne();
        }
        if (response.failure().isPresent()) {
          throw response.failure().get();
        }
        InferResponseWriter.writeGenerated(response, json);
      }
      try (InferResponse more = next(request, responses)) {
        if (more != null) {
          throw notOne();
        }
      }
    }
  }

  private static HttpFailure notOne() {
    return HttpFailure.badRequest(
        "generate expects model to produce exactly 1 response, use generate stream for model that"
            + " generates various number of responses");
  }

  /**
   * Answers with an event for each response, and the status of the first. A failure of the
   * inference is the last event; a request that cannot be sent gets an ordinary error reply.
   */
  void stream(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    try (InferRequest request = read(head, body);
        ResponseStream responses = send(request)) {
      Event event = event(request, responses, json);
      handler.beginEvents(event == null ? Status.OK : event.status);
      while (event != null) {
        handler.exchange().sendPart(json);
        json.clear();
        event = event.isLast ? null : event(request, responses, json);
      }
    }
  }

  /** A written event and its status. */
  private record Event(Status status, boolean isLast) {}

  /** Writes the next response as an event; null when there is none. */
  private Event event(InferRequest request, ResponseStream responses, JsonBuffer json)
      throws IOException {
    try (InferResponse response = next(request, responses)) {
      if (response == null) {
        return null;
      }
      if (response.failure().isPresent()) {
        return new Event(writeFailure(HttpFailure.of(response.failure().get()), json), false);
      }
      json.ascii(EVENT_START);
      InferResponseWriter.writeGenerated(response, json);
      json.ascii(EVENT_END);
      return new Event(Status.OK, false);
    } catch (RuntimeException e) {
      HttpFailure failure = HttpFailure.of(e);
      if (failure == null) {
        throw e;
      }
      if (handler.exchange().clientGone()) {
        throw new ClientGoneException();
      }
      json.clear();
      return new Event(writeFailure(failure, json), true);
    }
  }

  /** Writes a failure as an event and into the trace. */
  private Status writeFailure(HttpFailure failure, JsonBuffer json) {
    if (handler.trace() != null) {
      handler.trace().failed(String.valueOf(failure.getMessage()), failure.status().code() >= 500);
    }
    json.ascii(EVENT_START).ascii("{\"error\":").string(String.valueOf(failure.getMessage()));
    json.ascii("}").ascii(EVENT_END);
    return failure.status();
  }

  /** A request that is ready to be sent; the caller closes it. */
  private InferRequest read(ProtocolHead head, RequestBody body) throws IOException {
    String coding = head.contentEncoding();
    if (ContentCoding.ofRequest(coding) != ContentCoding.NONE) {
      throw HttpFailure.badRequest(
          "Unsupported Content-Encoding, only identity is supported, got '" + coding + "'");
    }
    Model model = handler.model(head.route());
    InferRequest request = model.newRequest();
    try {
      new Parser(context.limits(), model, request, log).parse(body);
      HeaderForwarding.apply(head.forwarded(), request);
      if (handler.trace() != null) {
        handler.trace().submitted(model, request);
      }
      return request;
    } catch (Throwable t) {
      request.close();
      throw t;
    }
  }

  private ResponseStream send(InferRequest request) {
    handler.begin(request); // the model may run on this thread
    try {
      return request.inferStream();
    } finally {
      handler.answered();
    }
  }

  /** The next response, which the caller closes; null when there are no more. */
  private InferResponse next(InferRequest request, ResponseStream responses) throws IOException {
    InferResponse response;
    handler.begin(request);
    try {
      response = responses.next();
    } finally {
      handler.answered();
    }
    if (response != null && handler.exchange().clientGone()) {
      response.close();
      throw new ClientGoneException();
    }
    if (response != null && handler.trace() != null) {
      handler.trace().answered(response);
    }
    return response;
  }

  /**
   * Fills in one request from a JSON object whose members are the model's inputs, each a value or
   * an array of values, and parameters.
   */
  private static final class Parser {

    private final HttpLimits limits;
    private final ModelSpec spec;
    private final InferRequest request;
    private final RequestLog log;

    Parser(HttpLimits limits, Model model, InferRequest request, RequestLog log) {
      this.limits = limits;
      this.spec = model.spec();
      this.request = request;
      this.log = log;
    }

    /** Reads the whole body. */
    void parse(RequestBody body) throws IOException {
      new JsonReader(limits.jsonDepth())
          .reset(body, Long.MAX_VALUE)
          .readObject(this::readMember, true);
    }

    private void readMember(String name, JsonReader parser) {
      TensorSpec input = input(name);
      if (name.equals("id")) {
        String id = parser.string("id");
        if (!id.isEmpty()) {
          request.id(id);
          log.id(id);
        }
      } else if (input != null) {
        readInput(input, parser);
      } else if (name.equals("parameters")) {
        parser.expectObject("parameters");
        parser.readMembers(this::readParameter);
      } else {
        // Not treated as one of the protocol's parameters, because the model names the members.
        RequestParameters.add(name, parser, request);
      }
    }

    private void readParameter(String name, JsonReader parser) {
      TensorSpec input = input(name);
      if (input != null) {
        readInput(input, parser);
      } else {
        RequestParameters.take(name, parser, request);
      }
    }

    private TensorSpec input(String name) {
      for (TensorSpec input : spec.inputs()) {
        if (input.name().equals(name)) {
          return input;
        }
      }
      return null;
    }

    private void readInput(TensorSpec input, JsonReader parser) {
      DataType type = input.dataType();
      InputDescription.checkJsonType(input.name(), type);
      byte[] elements = elements(parser);
      JsonReader again = parser.over(elements);
      long count = count(input.name(), again);
      long[] shape = shape(input, count);
      long mostBytes = limits.bodyBytes();
      again.reset(elements, 0, elements.length).next();
      TensorJsonReader reader = new TensorJsonReader(again, input.name(), type, count);
      if (type == DataType.BYTES) {
        TensorJsonReader.BytesBuffer encoded = reader.readBytes(mostBytes);
        encoded.copyTo(request.allocateBytesInput(input.name(), encoded.size(), shape).segment());
      } else if (count * type.byteSize() > mostBytes) {
        throw TensorJsonReader.tooLarge(input.name(), count * type.byteSize(), mostBytes);
      } else {
        reader.read(request.allocateInput(input.name(), shape).segment());
      }
    }

    /** The text of the array at the parser's position; a single value becomes an array. */
    private static byte[] elements(JsonReader parser) {
      if (parser.token() == Token.ARRAY) {
        return parser.copy();
      }
      byte[] value = parser.copy();
      byte[] array = new byte[value.length + 2];
      array[0] = '[';
      System.arraycopy(value, 0, array, 1, value.length);
      array[array.length - 1] = ']';
      return array;
    }

    /** Counts the elements of an array, which must be single values. */
    private static long count(String input, JsonReader elements) {
      elements.next();
      long count = 0;
      while (elements.next() != Token.END_ARRAY) {
        if (elements.token() == Token.OBJECT || elements.token() == Token.ARRAY) {
          throw JsonException.malformed(
              input,
              "expected a value or an array of values, got "
                  + (elements.token() == Token.OBJECT ? "an object" : "an array in it"));
        }
        count++;
      }
      return count;
    }

    /** The shape that the elements have: the innermost dimension of any size takes them all. */
    private long[] shape(TensorSpec input, long count) {
      List<Long> dims = input.dims();
      int first = spec.maxBatchSize() > 0 ? 1 : 0;
      long[] shape = new long[dims.size() + first];
      Arrays.fill(shape, 0, first, -1);
      long fixed = 1;
      int variable = -1;
      for (int i = 0; i < shape.length; i++) {
        if (i >= first) {
          shape[i] = dims.get(i - first);
        }
        if (shape[i] >= 0) {
          fixed = Math.multiplyExact(fixed, shape[i]);
        } else {
          variable = i;
          shape[i] = 1;
        }
      }
      if (variable >= 0 && fixed > 0 && count % fixed == 0) {
        shape[variable] = count / fixed;
      } else if (count != fixed) {
        throw HttpFailure.badRequest(
            ("The schema can not convert input '%s' to tensor with proper shape: expected %s%s "
                    + "elements, got %s")
                .formatted(input.name(), variable >= 0 ? "a multiple of " : "", fixed, count));
      }
      return shape;
    }
  }
}
