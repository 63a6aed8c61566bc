package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.trace.Trace;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Serves infer requests, one after the other, for one connection. */
final class InferHandler {

  private final HttpContext context;
  private final BodyReader bodyReader;
  private final ConnectionGuard guard;
  private final JsonReader json;
  private final RequestFacts facts;
  private final LastInfer last = new LastInfer();

  private RequestedOutputs outputs;
  private RequestSlices slices;
  private boolean raw;

  InferHandler(
      HttpContext context, BodyReader bodyReader, ConnectionGuard guard, RequestFacts facts) {
    this.context = context;
    this.bodyReader = bodyReader;
    this.guard = guard;
    json = new JsonReader(context.limits().jsonDepth());
    this.facts = facts;
  }

  /**
   * Reads a request, and runs it; the caller closes the response.
   *
   * @param trace null: it is not traced
   */
  InferResponse infer(RequestHead head, RequestBody body, Trace trace) throws IOException {
    Model model = model(context, head.route());
    facts.version(model.version());
    if (model.spec().decoupled()) {
      throw new HttpFailure(
          Status.NOT_IMPLEMENTED,
          "HTTP end point doesn't support models with decoupled transaction policy");
    }
    long jsonLength = jsonLength(head.fields().inferenceHeaderLength(), body.length());
    raw = jsonLength == 0;
    slices = new RequestSlices(context.state().sharedMemory());
    boolean answered = false;
    try (InferRequest request = model.newRequest()) {
      if (raw) {
        outputs = new RequestedOutputs();
        new RawInferRequest(model).read(body, request);
      } else {
        InferRequestParser parser =
            new InferRequestParser(json, context.limits(), model, request, slices, last);
        try {
          parser.parse(bodyReader, body, jsonLength);
          outputs = parser.outputs();
        } finally {
          facts.id(parser.id());
        }
      }
      HeaderForwarding.apply(head.fields().forwarded(), request);
      guard.running(request);
      try {
        InferResponse response = trace == null ? request.infer() : traced(model, request, trace);
        answered = true;
        return response;
      } finally {
        guard.answered();
      }
    } finally {
      if (!answered) {
        slices.close();
      }
    }
  }

  /** Keeps nothing long of a request that is done with. */
  void release() {
    json.release();
  }

  private static InferResponse traced(Model model, InferRequest request, Trace trace) {
    trace.submitted(model, request);
    InferResponse response = request.infer();
    trace.answered(response);
    return response;
  }

  /**
   * Writes the JSON part of the reply, and what goes into shared memory; gives what follows the
   * JSON part. To be called for every response.
   */
  List<MemorySegment> write(InferResponse response, JsonBuffer json) {
    try {
      return InferResponseWriter.write(response, outputs, raw, json);
    } finally {
      slices.close();
    }
  }

  /** The model that is to answer a request, while the server takes any. */
  static Model model(HttpContext context, Route route) {
    context.health().checkLoaded();
    if (context.health().isStopping()) {
      throw HttpFailure.closing(
          Status.UNAVAILABLE,
          "Server is stopping, scheduler for model has stopped accepting new"
              + " inference requests");
    }
    Nereid nereid = context.nereid();
    return route.version() == 0
        ? nereid.model(route.model())
        : nereid.model(route.model(), route.version());
  }

  /** Bytes of the JSON part; {@link RequestHead#ABSENT}: the whole body, 0: there is none. */
  private static long jsonLength(String field, long bodyLength) {
    if (field == null) {
      return RequestHead.ABSENT;
    }
    long most = bodyLength == RequestBody.UNKNOWN_LENGTH ? Long.MAX_VALUE : bodyLength;
    boolean negative = field.startsWith("-");
    long length = HeaderFields.digits(negative ? field.substring(1) : field);
    if (length < 0) {
      throw HttpFailure.badRequest(
          "Unable to parse Inference-Header-Content-Length, got: " + field);
    }
    if (negative || length > most) {
      throw HttpFailure.badRequest(
          "inference header size should be in range (0, " + most + "), got: " + field);
    }
    return length;
  }
}
