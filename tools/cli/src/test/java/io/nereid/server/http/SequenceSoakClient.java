package io.nereid.server.http;

import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.Tensor;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;

/**
 * A client of a {@link SequenceSoak}: one sequence after the other, of which it knows every sum. It
 * cancels requests and goes on, or leaves for good. Not for several threads.
 */
final class SequenceSoakClient implements SoakClient {

  private static final int MAX_LENGTH = 40;
  private static final int REQUESTS_FOR_A_CANCEL = 60;
  private static final int REQUESTS_FOR_A_LEAVE = 2_000;
  private static final int MAX_VALUE = 100;
  private static final int MAX_CANCEL_DELAY_NS = 2_000_000;

  private final int httpPort;
  private final InferenceClient http;
  private final InferenceClient grpc;
  private final List<String> models;
  private final long idleNs;
  private final SequenceSoak soak;
  private final Random random;

  private InferenceClient client;
  private String model;
  private long id;
  private boolean isNamed; // the id is a string
  private long sum;

  /** What a cancelled request brought, which may still be added: 0: there is none. */
  private long pending;

  private long sentNs; // the request that was answered last

  SequenceSoakClient(
      int httpPort,
      InferenceClient http,
      InferenceClient grpc,
      List<String> models,
      Duration idle,
      SequenceSoak soak,
      long seed) {
    this.httpPort = httpPort;
    this.http = http;
    this.grpc = grpc;
    this.models = models;
    this.soak = soak;
    idleNs = idle.toNanos();
    random = new Random(seed);
  }

  /** A sequence from its first request to its last, if it has one. */
  @Override
  public void converse() throws IOException {
    client = random.nextBoolean() ? http : grpc;
    model = models.get(random.nextInt(models.size()));
    id = soak.begin();
    isNamed = random.nextInt(4) == 0;
    sum = 0;
    pending = 0;
    int length = 1 + random.nextInt(MAX_LENGTH);
    for (int i = 0; i < length; i++) {
      boolean isFirst = i == 0;
      boolean isLast = i == length - 1;
      long value = 1 + random.nextInt(MAX_VALUE);
      if (!isFirst && random.nextInt(REQUESTS_FOR_A_LEAVE) == 0) {
        soak.left.increment();
        return;
      }
      boolean goesOn =
          !isFirst && !isLast && pending == 0 && random.nextInt(REQUESTS_FOR_A_CANCEL) == 0
              ? cancel(value)
              : ask(value, isFirst, isLast);
      if (!goesOn) {
        return;
      }
    }
    soak.ended.increment();
  }

  private InferRequest request(long value, boolean isFirst, boolean isLast) {
    InferRequest.Builder request =
        InferRequest.builder(model).input("INPUT", Tensor.ofFloats(new float[] {value}, 1, 1));
    return isNamed
        ? request.sequence(textId(), isFirst, isLast).build()
        : request.sequence(id, isFirst, isLast).build();
  }

  /** Breaks a request off; whether the server has added its value, a later answer tells. */
  private boolean cancel(long value) throws IOException {
    return client == http ? hangUp(value) : cancelCall(value);
  }

  /** On a connection of its own, which ends before the answer is read. */
  private boolean hangUp(long value) throws IOException {
    try (RawClient connection = new RawClient(httpPort)) {
      String body =
          "{\"parameters\":{\"sequence_id\":"
              + (isNamed ? '"' + textId() + '"' : id)
              + "},\"inputs\":[{\"name\":\"INPUT\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":["
              + value
              + "]}]}";
      byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
      connection.send(RawClient.request("/v2/models/" + model + "/infer", "", bytes));
      LockSupport.parkNanos(random.nextInt(MAX_CANCEL_DELAY_NS));
    }
    pending = value;
    soak.cancelled.increment();
    return true;
  }

  private boolean cancelCall(long value) {
    CompletableFuture<InferResponse> call = grpc.inferAsync(request(value, false, false));
    LockSupport.parkNanos(random.nextInt(MAX_CANCEL_DELAY_NS));
    if (call.cancel(true)) {
      pending = value;
      soak.cancelled.increment();
      return true;
    }
    try (InferResponse response = call.join()) {
      return check(response, value);
    } catch (CompletionException e) {
      return explained(e.getCause());
    }
  }

  /** Sends a request until it is answered; false: the sequence is over. */
  private boolean ask(long value, boolean isFirst, boolean isLast) {
    while (true) {
      long startNs = System.nanoTime();
      try (InferResponse response = client.infer(request(value, isFirst, isLast))) {
        boolean isRight = check(response, value);
        sentNs = startNs;
        return isRight;
      } catch (InferenceException e) {
        if (pending == 0 || e.code() != StatusCode.CANCELLED) {
          return explained(e);
        }
        pending = 0; // the cancelled request was still waiting, and took this one with it
        soak.takenAlong.increment();
      }
    }
  }

  private boolean check(InferResponse response, long value) {
    long got = (long) response.output("OUTPUT").toFloatArray()[0];
    if (got == sum + value + pending) {
      sum = got;
      pending = 0;
    } else if (got == sum + value) {
      sum = got; // the cancelled request may still come
    } else {
      soak.fault(
          name()
              + ": expected "
              + (sum + value)
              + (pending == 0 ? "" : " or " + pending + " more")
              + ", got "
              + got);
      return false;
    }
    soak.answered.increment();
    return true;
  }

  private String textId() {
    return "soak-" + id;
  }

  private String name() {
    return "sequence " + id + " of '" + model + "' by " + client;
  }

  /**
   * A sequence whose client was too slow is over, be it in the middle of a request. The server's
   * idle time lies within the time from sending one request to the failure of the next: if that is
   * shorter, it was the server.
   */
  private boolean explained(Throwable failure) {
    String text = String.valueOf(failure.getMessage());
    boolean isStart = text.contains("must specify the START flag");
    if (isStart && System.nanoTime() - sentNs >= idleNs || text.contains(HttpSoak.GRPC_TIME)) {
      soak.idled.increment();
    } else {
      soak.fault(name() + ": " + failure);
    }
    return false;
  }
}
