package io.nereid.server.http;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.shared.HeaderForwarding;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Answers inferences for one connection, one after the other, on the connection's thread. */
final class InferHandler {

  private static final HeaderName JSON_LENGTH =
      HeaderNames.create("Inference-Header-Content-Length");

  private final HttpContext context;
  private final RequestInHand handler;
  private final HttpExchange exchange;
  private final RequestLog log;
  private final InferRequestParser parser;
  private final Inference inference;

  InferHandler(HttpContext context, RequestInHand handler, RequestLog log) {
    this.context = context;
    this.handler = handler;
    this.log = log;
    exchange = handler.exchange();
    parser = new InferRequestParser(context.limits(), exchange.arrival(context.arriving()));
    inference = new Inference(exchange.connection().reader()::stepAside);
  }

  /** Ends the present request. */
  void end() {
    parser.release();
  }

  /** Answers a request; true: the next one may repeat its head. */
  boolean infer(ProtocolHead head, RequestBody body, JsonBuffer json) throws IOException {
    Model model = handler.model(head.route());
    if (model.spec().decoupled()) {
      throw new HttpFailure(
          Status.NOT_IMPLEMENTED,
          "HTTP end point doesn't support models with decoupled transaction policy");
    }
    long cameNs = model.spec().objective().isPresent() ? exchange.connection().readingSinceNs() : 0;
    long jsonLength = jsonLength(head.inferenceHeaderLength(), body.length());
    try (RequestSlices slices = new RequestSlices(context.state().sharedMemory());
        InferResponse response = run(model, head, body, jsonLength, slices)) {
      List<MemorySegment> binary =
          InferResponseWriter.write(response, parser.outputs(), jsonLength == 0, json);
      slices.release();
      HttpTrace.sending(handler.trace(), Status.OK, null);
      if (binary.isEmpty()) {
        exchange.field(HeaderValues.CONTENT_TYPE_JSON);
      } else {
        exchange.field(HeaderValues.CONTENT_TYPE_OCTET_STREAM);
        exchange.field(JSON_LENGTH, Long.toString(json.size()));
      }
      handler.addFields(head);
      exchange.sendCompressed(json, binary);
      response.sent(cameNs);
      if (context.state().paces().of(model).isShort() && body.length() >= 0) {
        exchange.connection().reader().keepHead(body.length());
        return true;
      }
      return false;
    }
  }

  /** Reads a request, and runs it; the caller closes the response. */
  private InferResponse run(
      Model model, ProtocolHead head, RequestBody body, long jsonLength, RequestSlices slices)
      throws IOException {
    try (InferRequest request = model.newRequest()) {
      try {
        parser.parse(body, jsonLength, model, request, slices);
      } finally {
        log.id(parser.id());
      }
      HeaderForwarding.apply(head.forwarded(), request);
      if (handler.trace() != null) {
        handler.trace().submitted(model, request);
      }
      InferResponse response;
      handler.begin(request);
      try {
        response = inference.run(request, exchange.isRepeated());
      } finally {
        handler.answered();
      }
      context.state().paces().of(model).executed(response);
      if (handler.trace() != null) {
        handler.trace().answered(response);
      }
      return response;
    }
  }

  /**
   * The bytes of the JSON part; {@link InferRequestParser#ALL}: the whole body; 0: no JSON part.
   */
  private static long jsonLength(String field, long bodyLength) {
    if (field == null) {
      return InferRequestParser.ALL;
    }
    long most = bodyLength == RequestBody.UNKNOWN_LENGTH ? Long.MAX_VALUE : bodyLength;
    boolean negative = field.startsWith("-");
    long length = Route.digits(negative ? field.substring(1) : field);
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
