package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.ResponseStream;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.trace.Trace;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.util.function.BooleanSupplier;

/** The generate extension, one request after the other, for one connection. */
final class GenerateHandler {

  private final HttpContext context;
  private final ConnectionGuard guard;
  private final ConnectionOutput output;
  private final RequestFacts facts;
  private Trace trace; // of the present request; null: it is not traced

  GenerateHandler(
      HttpContext context, ConnectionGuard guard, ConnectionOutput output, RequestFacts facts) {
    this.context = context;
    this.guard = guard;
    this.output = output;
    this.facts = facts;
  }

  /** Another request begins; {@code traced} is null when it is not traced. */
  GenerateHandler begin(Trace traced) {
    trace = traced;
    return this;
  }

  /** Writes the only response of a request. */
  void generate(RequestHead head, RequestBody body, JsonBuffer json) throws IOException {
    try (InferRequest request = read(head, body);
        ResponseStream responses = send(request)) {
      try (InferResponse response = next(request, responses)) {
        if (response == null) {
          throw notOne();
        }
        GenerateJson.write(response, json);
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
   * Answers with an event for each response. What fails before the first is thrown, and answered as
   * everywhere; what fails later is an event.
   *
   * @param closing whether the connection is to end with the reply, asked when that begins
   * @return what it said
   */
  boolean stream(
      RequestHead head, RequestBody body, JsonBuffer json, boolean http10, BooleanSupplier closing)
      throws IOException {
    try (InferRequest request = read(head, body);
        ResponseStream responses = send(request)) {
      boolean more = write(request, responses, json);
      boolean close = closing.getAsBoolean();
      HttpTrace.sending(trace, Status.OK, null);
      EventStream events = new EventStream(output, !http10 && output.marksParts(), close);
      while (more) {
        events.send(json);
        json.clear();
        try {
          more = write(request, responses, json);
        } catch (NereidException | HttpFailure e) {
          if (guard.clientGone()) {
            throw new ClientGoneException();
          }
          failed(e);
          json.clear();
          json.ascii("{\"error\":").string(String.valueOf(e.getMessage())).write('}');
          events.send(json);
          json.clear();
          more = false;
        }
      }
      events.end(json);
      return close;
    }
  }

  /** The status was sent before: this is all that a trace says of it. */
  private void failed(RuntimeException e) {
    if (trace != null) {
      Status status =
          switch (e) {
            case NereidException failure -> Status.of(failure);
            case HttpFailure failure -> failure.status();
            default -> Status.INTERNAL;
          };
      trace.failed(String.valueOf(e.getMessage()), status.code() >= 500);
    }
  }

  /** Writes the next response; false when there is none. */
  private boolean write(InferRequest request, ResponseStream responses, JsonBuffer json)
      throws IOException {
    try (InferResponse response = next(request, responses)) {
      if (response == null) {
        return false;
      }
      GenerateJson.write(response, json);
      return true;
    }
  }

  /** A request that is ready to be sent; the caller closes it. */
  private InferRequest read(RequestHead head, RequestBody body) throws IOException {
    String coding = head.fields().contentEncoding();
    if (Compression.ofRequest(coding) != Compression.NONE) {
      throw HttpFailure.badRequest(
          "Unsupported Content-Encoding, only identity is supported, got '" + coding + "'");
    }
    Model model = InferHandler.model(context, head.route());
    facts.version(model.version());
    InferRequest request = model.newRequest();
    try {
      new GenerateParser(context, model, request, facts).parse(body);
      HeaderForwarding.apply(head.fields().forwarded(), request);
      if (trace != null) {
        trace.submitted(model, request);
      }
      return request;
    } catch (Throwable t) {
      request.close();
      throw t;
    }
  }

  private ResponseStream send(InferRequest request) {
    guard.running(request); // a model may run right here
    try {
      return request.inferStream();
    } finally {
      guard.answered();
    }
  }

  /** The next response, which the caller closes; null when there are no more. */
  private InferResponse next(InferRequest request, ResponseStream responses) throws IOException {
    InferResponse response;
    guard.running(request);
    try {
      response = responses.next();
    } finally {
      guard.answered();
    }
    if (response != null && guard.clientGone()) {
      response.close();
      throw new ClientGoneException();
    }
    if (response != null && trace != null) {
      trace.answered(response);
    }
    return response;
  }
}
