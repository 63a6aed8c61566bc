package io.nereid.text;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.JsonEndpoint;
import io.nereid.Model;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * Owns the requests of one call to an endpoint and their responses, until closed. Used by the
 * thread of the call.
 */
final class ModelRequests implements AutoCloseable {

  private final Model model;
  private final long timeoutUs;
  private final List<InferRequest> requests = new ArrayList<>();
  private List<InferResponse> responses = List.of();

  /**
   * Makes an empty collection; {@code timeoutUs} is the time that each request may wait, 0: any.
   */
  ModelRequests(Model model, long timeoutUs) {
    this.model = model;
    this.timeoutUs = timeoutUs;
  }

  /** The most texts in a request. */
  int most() {
    return Math.clamp(model.spec().maxBatchSize(), 1, EndpointJson.MOST_TEXTS);
  }

  /** Adds a request without inputs. */
  InferRequest add() {
    InferRequest request = model.newRequest();
    requests.add(request);
    if (timeoutUs > 0) {
      request.timeout(Duration.of(timeoutUs, ChronoUnit.MICROS));
    }
    return request;
  }

  /** Makes a tensor of texts for the model, one a row. */
  Tensor texts(List<String> texts) {
    Tensor tensor = Tensor.of(texts);
    return model.spec().maxBatchSize() > 0 ? tensor.reshape(texts.size(), 1) : tensor;
  }

  /** Sends all requests; returns the responses in the requests' order. */
  List<InferResponse> send(JsonEndpoint.Call call) {
    responses = call.infer(requests);
    return responses;
  }

  /** The sum of an output of counts; 0 if the model has none. */
  long sum(String output) {
    if (!EndpointJson.has(model.spec().outputs(), output, DataType.INT64)) {
      return 0;
    }
    long sum = 0;
    for (InferResponse response : responses) {
      Tensor counts = response.output(output);
      for (int i = 0; i < counts.elementCount(); i++) {
        sum += counts.longAt(i);
      }
    }
    return sum;
  }

  @Override
  public void close() {
    responses.forEach(InferResponse::close);
    requests.forEach(InferRequest::close);
  }
}
