package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.JsonEndpoint;
import io.nereid.Model;
import io.nereid.server.shared.HeaderForwarding;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** One request to an endpoint that the class path adds. Used by the thread that serves it. */
final class JsonEndpointCall implements JsonEndpoint.Call {

  private final HttpContext context;
  private final HttpExchange exchange;
  private final Function<Route, Model> models;
  private final ProtocolHead head;
  private final RequestBody body;

  /** Makes the call of an exchange's present request; {@code models} finds the models. */
  JsonEndpointCall(
      HttpContext context,
      HttpExchange exchange,
      Function<Route, Model> models,
      ProtocolHead head,
      RequestBody body) {
    this.context = context;
    this.exchange = exchange;
    this.models = models;
    this.head = head;
    this.body = body;
  }

  @Override
  public InputStream body() {
    return body.asStream();
  }

  @Override
  public List<Model> models() {
    return context.nereid().models();
  }

  @Override
  public Model model(String name) {
    return models.apply(Route.of(head.route().endpoint(), name, 0));
  }

  @Override
  public void takeHeap(long bytes) {
    body.takeHeap(bytes);
  }

  @Override
  public List<InferResponse> infer(List<InferRequest> requests) {
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    List<InferResponse> responses = new ArrayList<>();
    RuntimeException failure = null;
    exchange.connection().running(() -> requests.forEach(InferRequest::cancel));
    try {
      for (InferRequest request : requests) {
        HeaderForwarding.apply(head.forwarded(), request);
        answers.add(request.inferAsync());
      }
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
      responses.forEach(InferResponse::close);
      throw failure;
    }
    return responses;
  }
}
