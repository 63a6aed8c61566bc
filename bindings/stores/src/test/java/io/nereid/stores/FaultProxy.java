package io.nereid.stores;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a client and a store, and does what stores and networks do on a bad day, by a
 * seed: errors, broken connections, bodies that end early, come slowly or with a byte changed, and
 * lists that are older than they should be.
 */
final class FaultProxy implements AutoCloseable {

  /** The faults. */
  enum Fault {
    NONE,
    STATUS_500,
    STATUS_503,
    RESET,
    TRUNCATED,
    SILENT,
    SLOW,
    FLIPPED,
    OLD_LIST,
    EMPTY_LIST,
    HALF_LIST
  }

  private static final String EMPTY =
      "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";

  private final ServerSocket listening;
  private final int upstream;
  private final Map<String, byte[]> oldLists = new ConcurrentHashMap<>();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger faults = new AtomicInteger();
  private final Random random;
  private volatile int perMille;
  private volatile boolean failObjects;
  private volatile String lastHead = "";
  private volatile Fault always = Fault.NONE;
  private volatile long silenceMs = 3_000;
  private volatile String heldPart = "\n";
  private final AtomicInteger held = new AtomicInteger();
  private final CountDownLatch released = new CountDownLatch(1);

  FaultProxy(int upstream, long seed, int perMille) throws IOException {
    this.upstream = upstream;
    this.perMille = perMille;
    random = new Random(seed);
    listening = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("fault-proxy").start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  int requests() {
    return requests.get();
  }

  /** The head of the last request. */
  String lastHead() {
    return lastHead;
  }

  int faults() {
    return faults.get();
  }

  void perMille(int share) {
    perMille = share;
  }

  /** From now on each answer has this fault. */
  void always(Fault fault) {
    always = fault;
  }

  /** True: lists are answered, objects are not. */
  void failObjects(boolean fail) {
    failObjects = fail;
  }

  /** From now on requests whose line has this text wait for {@link #release}. */
  void hold(String part) {
    heldPart = part;
  }

  /** Counts the requests that were held up so far. */
  int held() {
    return held.get();
  }

  void release() {
    released.countDown();
  }

  private void accept() {
    while (true) {
      try {
        Socket client = listening.accept();
        Thread.ofPlatform().daemon().start(() -> serve(client));
      } catch (IOException e) {
        return;
      }
    }
  }

  private synchronized Fault next(boolean list) {
    if (failObjects && !list) {
      return Fault.STATUS_503;
    }
    if (always != Fault.NONE) {
      return always;
    }
    if (random.nextInt(1000) >= perMille) {
      return Fault.NONE;
    }
    Fault[] all = Fault.values();
    Fault chosen = all[1 + random.nextInt(all.length - 1)];
    return !list && chosen.ordinal() >= Fault.OLD_LIST.ordinal() ? Fault.RESET : chosen;
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      while (true) {
        String head = head(client.getInputStream());
        if (head.isEmpty()) {
          return;
        }
        requests.incrementAndGet();
        lastHead = head;
        if (head.substring(0, head.indexOf('\r')).contains(heldPart)) {
          held.incrementAndGet();
          released.await();
        }
        boolean list = head.startsWith("GET") && head.contains("list-type=2");
        byte[] answer = ask(head);
        if (!answer(client, head, answer, list)) {
          return;
        }
      }
    } catch (IOException | InterruptedException e) {
      // The client left.
    }
  }

  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    int state = 0;
    while (state < 4) {
      int next = in.read();
      if (next < 0) {
        return "";
      }
      head.write(next);
      state = next == (state % 2 == 0 ? '\r' : '\n') ? state + 1 : 0;
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  private byte[] ask(String head) throws IOException {
    try (Socket store = new Socket(InetAddress.getLoopbackAddress(), upstream)) {
      String once = head.substring(0, head.length() - 2) + "Connection: close\r\n\r\n";
      store.getOutputStream().write(once.getBytes(StandardCharsets.ISO_8859_1));
      return store.getInputStream().readAllBytes();
    }
  }

  /** False: the connection is over. */
  private boolean answer(Socket client, String head, byte[] answer, boolean list)
      throws IOException, InterruptedException {
    Fault fault = next(list);
    OutputStream out = client.getOutputStream();
    String line = head.substring(0, head.indexOf('\r')).replaceAll(" HTTP.*", "");
    byte[] given = answer;
    if (fault != Fault.NONE) {
      faults.incrementAndGet();
    }
    switch (fault) {
      case STATUS_500 -> given = status("500 Internal Server Error");
      case STATUS_503 -> given = status("503 Slow Down");
      case RESET -> {
        client.setSoLinger(true, 0);
        return false;
      }
      case TRUNCATED, HALF_LIST -> {
        out.write(
            answer, 0, answer.length - Math.min(answer.length / 2, 1 + bodyLength(answer) / 2));
        return false;
      }
      case SILENT -> {
        Thread.sleep(silenceMs);
        return false;
      }
      case SLOW -> {
        for (int i = 0; i < 20 && i < answer.length; i++) {
          out.write(answer, i, 1);
          out.flush();
          Thread.sleep(20);
        }
        out.write(answer, Math.min(20, answer.length), Math.max(0, answer.length - 20));
        return false;
      }
      case FLIPPED -> {
        int body = bodyLength(answer);
        if (body > 0 && !list) {
          given = answer.clone();
          given[given.length - 1 - body / 2] ^= 1;
        }
      }
      case OLD_LIST -> given = oldLists.getOrDefault(line, answer);
      case EMPTY_LIST -> given = text("200 OK", EMPTY);
      case NONE -> {
        if (list && new String(answer, 0, 12, StandardCharsets.ISO_8859_1).endsWith("200")) {
          oldLists.put(line, answer);
        }
      }
    }
    out.write(given);
    out.flush();
    return false; // the store's answer says that the connection closes
  }

  void silence(long ms) {
    silenceMs = ms;
  }

  private static int bodyLength(byte[] answer) {
    String text = new String(answer, StandardCharsets.ISO_8859_1);
    return answer.length - text.indexOf("\r\n\r\n") - 4;
  }

  private static byte[] status(String status) {
    return text(status, "<Error><Code>SlowDown</Code></Error>");
  }

  private static byte[] text(String status, String body) {
    return ("HTTP/1.1 "
            + status
            + "\r\nConnection: close\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body)
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
