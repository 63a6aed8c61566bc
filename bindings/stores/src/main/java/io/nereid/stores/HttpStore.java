package io.nereid.stores;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The objects below one prefix of a store. What fails for a reason that may pass is tried again,
 * after a wait that grows and is random, so that servers that failed together do not come back
 * together. Threads that fetch call it at the same time; together they have a bounded number of
 * connections.
 */
final class HttpStore {

  /** The most connections to one store for parts of objects. */
  private static final int MAX_CONNECTIONS = 16;

  /** The most for lists and short questions, which wait for no part. */
  private static final int MAX_QUESTIONS = 4;

  private static final long FIRST_WAIT_MS = 100;
  private static final long LONGEST_WAIT_MS = 5_000;

  /** The fewest bytes of a body that have to come while one waits. */
  private static final long LEAST_BYTES = 64 << 10;

  /** The most bytes of an answer that is kept in memory: a page of a list has far fewer. */
  private static final int MAX_TEXT_BYTES = 32 << 20;

  private static final Pattern CODE = Pattern.compile("<Code>([\\w.]{1,60})</Code>");

  /**
   * An answer.
   *
   * @param headers the first of each name
   * @param body empty where it went to a file
   */
  record Answer(int status, Map<String, String> headers, byte[] body) {}

  private final StoreUrl url;
  private final Dialect dialect;
  private final CompletableFuture<HttpClient> client;
  private final Duration patience;
  private final AtomicLong faults = new AtomicLong();
  private final Semaphore connections = new Semaphore(MAX_CONNECTIONS);
  private final Semaphore questions = new Semaphore(MAX_QUESTIONS);

  /** True once an object's ETag was found to be the MD5 of its content. */
  volatile boolean etagsAreDigests;

  /** The time that the store's clock is ahead of this machine's. */
  private volatile Duration ahead = Duration.ZERO;

  /**
   * A store.
   *
   * @param patience how long nothing may come before a request is given up
   */
  HttpStore(
      StoreUrl url, Dialect dialect, CompletableFuture<HttpClient> client, Duration patience) {
    this.url = url;
    this.dialect = dialect;
    this.client = client;
    this.patience = patience;
  }

  /** The answers that were no use, and connections that broke, since the start. */
  long faults() {
    return faults.get();
  }

  /** Lists all objects, named from the prefix on. */
  List<StoredObject> list(int tries) throws IOException {
    List<StoredObject> all = new ArrayList<>();
    String token = "";
    do {
      URI uri = dialect.list(token);
      ListReader page =
          retry(
              questions,
              tries,
              "the list",
              () -> ListReader.read(send("GET", uri, Map.of(), null).body()));
      for (StoredObject one : page.objects()) {
        if (one.key().startsWith(url.prefix())) {
          String key = one.key().substring(url.prefix().length());
          all.add(new StoredObject(key, one.size(), one.etag(), one.md5()));
        }
      }
      token = page.next();
    } while (!token.isEmpty());
    return all;
  }

  /** True if there is such an object, whatever its content. */
  boolean exists(StoredObject object) throws IOException {
    URI uri = dialect.object(url.prefix() + object.key());
    try {
      return retry(questions, 3, object.key(), () -> send("HEAD", uri, Map.of(), null)).status()
          == 200;
    } catch (StoreException e) {
      if (e.isMissing()) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Reads a part of an object into a file, at the same place, and goes on behind what came when the
   * connection breaks.
   *
   * @param done counts bytes as they come; none is counted twice
   * @return the headers of the last answer
   */
  Map<String, String> read(
      StoredObject object, FileChannel into, long offset, long length, AtomicLong done)
      throws IOException {
    URI uri = dialect.object(url.prefix() + object.key());
    AtomicLong here = new AtomicLong();
    return retry(
        connections,
        TRIES,
        object.key(),
        () -> {
          long at = offset + here.get();
          if (here.get() == length) {
            return Map.of(); // all of it came before the connection broke
          }
          Map<String, String> headers = new TreeMap<>();
          headers.put("range", "bytes=" + at + "-" + (offset + length - 1));
          headers.put("if-match", "\"" + object.etag() + "\"");
          Answer answer =
              send("GET", uri, headers, new FileSink(into, at, offset + length, here, done));
          if (here.get() != length) {
            throw new IOException("expected " + length + " bytes of it, got " + here);
          }
          return answer.headers();
        });
  }

  // ---- Trying again ----------------------------------------------------------------------------

  /** The tries of a request for a part of an object. */
  static final int TRIES = 7;

  private interface Attempt<T> {
    T run() throws IOException;
  }

  private <T> T retry(Semaphore permits, int tries, String what, Attempt<T> attempt)
      throws IOException {
    for (int i = 0; ; i++) {
      try {
        permits.acquire();
        try {
          return attempt.run();
        } finally {
          permits.release();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      } catch (IOException e) {
        boolean temporary = !(e instanceof StoreException answer) || answer.isTemporary();
        if (!(e instanceof StoreException answer && answer.isMissing())) {
          faults.incrementAndGet();
        }
        if (!temporary || i + 1 >= tries || Thread.currentThread().isInterrupted()) {
          int status = e instanceof StoreException answer ? answer.status() : 0;
          String times = temporary && tries > 1 ? ", " + tries + " times" : "";
          throw new StoreException(status, what + ": " + reason(e) + times);
        }
      }
      pause(i);
    }
  }

  private static String reason(IOException e) {
    if (e instanceof ConnectException) {
      return "the connection is refused"; // without a message of its own
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  private static void pause(int failures) throws IOException {
    long waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS << failures);
    try {
      Thread.sleep(waitMs / 2 + ThreadLocalRandom.current().nextLong(waitMs));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  // ---- One request -----------------------------------------------------------------------------

  /** Sends a request, and once more when the store refused it for a reason that can be mended. */
  private Answer send(String method, URI uri, Map<String, String> headers, FileSink into)
      throws IOException {
    Answer answer = sendOnce(method, uri, headers, into);
    if (answer.status() >= 300 && answer.status() <= 403) {
      boolean skewed = setClock(answer.headers());
      if (dialect.refused(answer.headers()) | skewed) {
        answer = sendOnce(method, uri, headers, into);
      }
    }
    if (answer.status() != 200 && answer.status() != 206) {
      Matcher code = CODE.matcher(new String(answer.body(), StandardCharsets.UTF_8));
      String name = code.find() ? " (" + code.group(1) + ")" : "";
      throw new StoreException(
          answer.status(), uri.getHost() + " answered with status " + answer.status() + name);
    }
    return answer;
  }

  /**
   * Takes over the store's time where this machine's is wrong: signatures are valid for minutes.
   */
  private boolean setClock(Map<String, String> headers) {
    try {
      Instant there =
          Instant.from(
              DateTimeFormatter.RFC_1123_DATE_TIME.parse(headers.getOrDefault("date", "")));
      Duration measured = Duration.between(Instant.now(), there);
      boolean wrong = measured.minus(ahead).abs().compareTo(Duration.ofMinutes(1)) > 0;
      ahead = wrong ? measured : ahead;
      return wrong;
    } catch (DateTimeParseException e) {
      return false;
    }
  }

  private Answer sendOnce(String method, URI uri, Map<String, String> headers, FileSink into)
      throws IOException {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    request = method.equals("HEAD") ? request.HEAD() : request.GET();
    dialect.sign(method, uri, headers, Instant.now().plus(ahead)).forEach(request::setHeader);
    AtomicLong came = into == null ? new AtomicLong() : into.here();
    HttpResponse<byte[]> answer =
        await(
            client
                .join()
                .sendAsync(
                    request.build(),
                    info -> {
                      String range = info.headers().firstValue("content-range").orElse("");
                      boolean toFile = into != null && into.takes(info.statusCode(), range);
                      BodySubscriber<byte[]> memory =
                          BodySubscribers.limiting(BodySubscribers.ofByteArray(), MAX_TEXT_BYTES);
                      return toFile ? into : memory;
                    }),
            came);
    Map<String, String> first = new TreeMap<>();
    answer.headers().map().forEach((name, values) -> first.put(name, values.getFirst()));
    return new Answer(answer.statusCode(), first, answer.body());
  }

  /** Waits as long as enough bytes come. */
  private HttpResponse<byte[]> await(
      CompletableFuture<HttpResponse<byte[]>> answer, AtomicLong came) throws IOException {
    long before = came.get();
    while (true) {
      try {
        return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (came.get() - before < LEAST_BYTES) {
          answer.cancel(true);
          throw new IOException("nothing came for " + patience.toSeconds() + " s");
        }
        before = came.get();
      } catch (ExecutionException e) {
        throw e.getCause() instanceof IOException cause
            ? cause
            : new IOException("the request failed", e.getCause());
      } catch (InterruptedException e) {
        answer.cancel(true);
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
  }
}
