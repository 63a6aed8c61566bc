package io.nereid.cli;

import io.nereid.client.ClientOptions;
import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferStream;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.RetryPolicy;
import io.nereid.client.SharedMemory;
import io.nereid.client.Tensor;
import io.nereid.types.DataType;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Lets the calls of a server fail, by libfiu: {@code FaultsRun SECONDS SEED}. Each point of libfiu
 * fails once in each deed of a client, then all do at random for the seconds. Meanwhile a deed has
 * its right answer or a clean error, and afterwards its right answer, from the same process.
 */
final class FaultsRun {

  /**
   * The points, and the numbers of the errors that each fails with; 0: any of those it may have.
   */
  private static final Map<String, String[]> POINTS = new LinkedHashMap<>();

  static {
    String points =
        """
        posix/io/rw/read=5,4,104,11 posix/io/rw/read/reduce=0
        posix/io/rw/readv=5,4,104 posix/io/rw/readv/reduce=0
        posix/io/rw/pread=5,4 posix/io/rw/pread/reduce=0
        posix/io/rw/write=32,4,28,11 posix/io/rw/write/reduce=0
        posix/io/rw/writev=32,4,11 posix/io/rw/writev/reduce=0
        posix/io/rw/pwrite=28,4 posix/io/rw/pwrite/reduce=0 posix/io/rw/ftruncate=28
        posix/io/oc/open=24,5,4 posix/io/oc/close=5,4
        posix/io/sync/fsync=5 posix/io/sync/fdatasync=5
        posix/io/dir/opendir=24 posix/io/dir/fdopendir=24 posix/io/dir/readdir=5
        posix/io/dir/closedir=5 posix/io/dir/unlink=5 posix/io/dir/rename=5
        posix/io/net/socket=24 posix/io/net/bind=98 posix/io/net/listen=98
        posix/io/net/accept=24,103,4,105,11,71 posix/io/net/connect=111
        posix/io/net/recv=104,4 posix/io/net/recvfrom=104,4 posix/io/net/recvmsg=104,4
        posix/io/net/send=32,4 posix/io/net/sendto=32,4 posix/io/net/sendmsg=32,4
        posix/io/net/shutdown=107 posix/io/net/poll=4,12
        posix/proc/fork=11 posix/proc/waitpid=4
        posix/stdio/oc/fopen=24 posix/stdio/oc/fclose=5 posix/stdio/rw/fread=5
        posix/stdio/rw/fwrite=28 posix/stdio/gp/fgets=5 posix/stdio/sp/fprintf=28
        """;
    for (String point : points.split("\\s+")) {
      POINTS.put(point.split("=")[0], point.split("=")[1].split(","));
    }
  }

  /** The functions of memory that the core calls. */
  private static final List<String> MEMORY = List.of("libc/mm/malloc", "posix/mm/mmap");

  private static final String LEFT_OUT =
      """
      Memory (libc/mm, posix/mm) fails below functions of the core's C ABI alone: HotSpot ends the
      process on purpose when its own fails. The core's own threads have no such function below
      them, and its other symbols are hidden. Signals are HotSpot's, too.
      """;

  /** A client's requests; an AssertionError says that an answer is not the right one. */
  private interface Deed {
    void with(InferenceClient client) throws IOException;
  }

  /** The figures of one point; guarded by itself. */
  private static final class Row {
    private int hits;
    private int answered;
    private int failed;
    private int found;

    private synchronized void count(String error) {
      if (error.isEmpty()) {
        answered++;
      } else {
        failed++;
      }
    }
  }

  /** Something that lets calls fail; returns whether any did. */
  private interface Round {
    boolean run() throws IOException;
  }

  private static final int PATIENCE_MS = 60_000;
  private static final int RECOVERY_MS = 60_000;
  private static final int CLIENTS = 6;
  private static final int SLICE_MS = 1_000;
  private static final double[] CHANCES = {1, 0.5, 0.2};
  private static final Pattern UNCAUGHT =
      Pattern.compile("Exception in thread|OutOfMemoryError|NoClassDefFound|^\tat |# A fatal");

  private final long seed;
  private final Path directory = Files.createDirectories(Path.of("../../build/faults"));
  private final PrintWriter log =
      new PrintWriter(Files.newBufferedWriter(directory.resolve("log")), true);
  private final Executor threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Deed> deeds = new LinkedHashMap<>();
  private final List<String> harmless; // any number of clients may do these at a time
  private final Map<String, Row> rows = new LinkedHashMap<>();
  private final List<String> findings = new ArrayList<>();
  private final List<String> printed = new ArrayList<>(); // guarded by itself
  private final AtomicInteger number = new AtomicInteger();
  private final SharedMemory memory =
      SharedMemory.create("/nereid-faults-" + ProcessHandle.current().pid(), 1024);
  private final Map<String, String> addresses = new LinkedHashMap<>();
  private Process server;
  private MemorySegment shared;

  private FaultsRun(long seed) throws IOException {
    this.seed = seed;
    for (String protocol : List.of("HTTP ", "gRPC ")) { // first: the others need what they load
      deeds.put(protocol + "load", client -> load(client, "digits"));
      deeds.put(protocol + "load isolated", client -> load(client, "simple"));
      deeds.put(protocol + "shared memory", this::share);
    }
    int alone = deeds.size();
    for (String protocol : List.of("HTTP ", "gRPC ")) {
      deeds.put(protocol + "small", client -> infer(client, 16));
      deeds.put(protocol + "large", client -> infer(client, 150_528));
      deeds.put(protocol + "isolated", this::sum);
    }
    deeds.put("HTTP metrics", client -> metrics());
    deeds.put("gRPC stream", FaultsRun::stream);
    harmless = List.copyOf(deeds.keySet()).subList(alone, deeds.size());
    start();
  }

  public static void main(String[] args) throws Exception {
    FaultsRun run = new FaultsRun(Long.parseLong(args[1]));
    Runtime.getRuntime().addShutdownHook(new Thread(run.memory::close));
    run.singly();
    run.atRandom(Integer.parseInt(args[0]));
    System.exit(run.tell() ? 0 : 1);
  }

  // ---- The server ------------------------------------------------------------------------------

  private void start() throws IOException {
    Path file = Files.write(directory.resolve("shared"), new byte[FaultyServer.BYTES]);
    shared = FaultyServer.map(file);
    List<String> arguments = new ArrayList<>(List.of(file.toString()));
    arguments.addAll(
        ServeProcess.arguments(
            "--model-control-mode=explicit", "--load-model=*", "--isolation=simple=process"));
    arguments.add("--allow-client-shm=true");
    arguments.add("--record=" + directory.resolve("recorded") + ",max=64m");
    arguments.add("--trace-config=level=TIMESTAMPS");
    arguments.add("--trace-config=rate=1");
    arguments.add("--trace-config=triton,file=" + directory.resolve("trace.json"));
    String fiu = "FIU_PRNG_SEED=" + seed + " exec fiu-run -x -f '' \"$@\"";
    server =
        ServeProcess.startFromShell(
            fiu, List.of("-Xmx512m"), FaultyServer.class.getName(), arguments);
    Runtime.getRuntime().addShutdownHook(new Thread(server::destroyForcibly));
    BufferedReader from = server.inputReader();
    String line;
    do {
      line = from.readLine();
      if (line == null) {
        throw new IOException("the server did not start");
      }
      log.println("    " + line);
      if (line.startsWith("Serving ")) { // HTTP at http://127.0.0.1:8000
        String[] words = line.split(" ");
        addresses.put(words[1], words[3].contains("//") ? words[3] : "grpc://" + words[3]);
      }
    } while (!line.startsWith("Ready"));
    Thread.ofPlatform().daemon().start(() -> listen(from));
    for (int i = 0; i < 3; i++) {
      recover("the start"); // all classes are loaded
    }
  }

  private void listen(BufferedReader from) {
    try {
      from.lines()
          .forEach(line -> {
            log.println("    " + line);
            synchronized (printed) {
              printed.add(line);
            }
          });
    } catch (UncheckedIOException e) {
      // It was stopped.
    }
  }

  // ---- Deeds -----------------------------------------------------------------------------------

  private static void expect(Object expected, Object found) {
    if (!expected.equals(found)) {
      throw new AssertionError("expected " + expected + ", got " + found);
    }
  }

  private static void load(InferenceClient client, String model) {
    client.unloadModel(model); // else it would stay as it is
    client.loadModel(model);
  }

  /** A request whose elements no other has. */
  private void infer(InferenceClient client, int count) {
    int own = number.getAndIncrement();
    String id = "request " + own;
    float[] elements = new float[count];
    for (int i = 0; i < count; i++) {
      elements[i] = own + i % 1000 / 1024f;
    }
    try (InferResponse response =
        client.infer(
            InferRequest.builder("identity_fp32")
                .id(id)
                .input("INPUT0", Tensor.ofFloats(elements, 1, count))
                .build())) {
      expect(id, response.id().orElse("none"));
      if (!Arrays.equals(elements, response.output("OUTPUT0").toFloatArray())) {
        throw new AssertionError("other elements came back");
      }
    }
  }

  private static void stream(InferenceClient client) {
    try (InferStream stream = client.openStream()) {
      stream.send(
          InferRequest.builder("repeat")
              .input("IN", Tensor.ofInts(new int[] {4, 5, 6}, 3))
              .input("DELAY", Tensor.of(DataType.UINT32, ByteBuffer.allocate(12), 3))
              .input("WAIT", Tensor.of(DataType.UINT32, ByteBuffer.allocate(4), 1))
              .build());
      stream.finish();
      List<Integer> came = new ArrayList<>();
      for (InferResponse next = stream.next(); next != null; next = stream.next()) {
        came.add(next.output("OUT").toIntArray()[0]);
        next.close();
      }
      expect(List.of(4, 5, 6), came);
    }
  }

  private void metrics() throws IOException {
    try (var in = URI.create(addresses.get("metrics") + "/metrics").toURL().openStream()) {
      expect(true, new String(in.readAllBytes()).contains("nv_inference_request_success"));
    }
  }

  /** A sum that a process of its own computes. */
  private void sum(InferenceClient client) {
    int first = number.getAndIncrement();
    Tensor tensor = Tensor.ofInts(IntStream.range(first, first + 16).toArray(), 1, 16);
    try (InferResponse response =
        client.infer(
            InferRequest.builder("simple")
                .input("INPUT0", tensor)
                .input("INPUT1", tensor)
                .build())) {
      int[] sums = response.output("OUTPUT0").toIntArray();
      expect(2 * first, sums[0]);
      expect(2 * (first + 15), sums[15]);
    }
  }

  /** Infers in a segment of this process. */
  private void share(InferenceClient client) {
    client.unregisterSharedMemory(memory.name()); // left by a deed that failed
    client.registerSharedMemory(memory);
    SharedMemory.Slice in = memory.slice(0, 64);
    SharedMemory.Slice out = memory.slice(512, 64);
    in.byteBuffer().putInt(0, number.incrementAndGet());
    out.byteBuffer().putInt(0, 0);
    client
        .infer(
            InferRequest.builder("identity_fp32")
                .input("INPUT0", Tensor.ofSharedMemory(DataType.FP32, in, 1, 16))
                .output("OUTPUT0", out)
                .build())
        .close();
    expect(in.byteBuffer().getInt(0), out.byteBuffer().getInt(0));
    client.unregisterSharedMemory(memory.name());
  }

  /** Empty: answered; else the clean error. All else is an AssertionError. */
  private String attempt(String deed) {
    CompletableFuture<Void> done =
        CompletableFuture.runAsync(
            () -> {
              String address = addresses.get(deed.substring(0, 4)); // of its protocol
              ClientOptions options = ClientOptions.builder().retry(RetryPolicy.NONE).build();
              try (InferenceClient client = InferenceClient.connect(address, options)) {
                deeds.get(deed).with(client);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            },
            threads);
    try {
      done.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
      return "";
    } catch (ExecutionException e) {
      return switch (e.getCause()) {
        case InferenceException failure -> failure.code() + " " + failure.getMessage();
        case UncheckedIOException failure -> failure.getMessage();
        case Throwable other -> throw new AssertionError(other.toString(), e);
      };
    } catch (TimeoutException | InterruptedException e) {
      throw new AssertionError("no answer within " + PATIENCE_MS + " ms", e);
    }
  }

  // ---- Faults ----------------------------------------------------------------------------------

  private void singly() throws IOException {
    for (Map.Entry<String, String[]> point : POINTS.entrySet()) {
      String[] errors = point.getValue();
      for (String deed : deeds.keySet()) {
        boolean hit = true;
        for (int i = 0; hit && i < Math.max(errors.length, CHANCES.length); i++) {
          double chance = i < CHANCES.length ? CHANCES[i] : 1;
          String error = errors[i % errors.length] + ",onetime";
          hit = once(point.getKey(), enable(point.getKey(), error, chance), "", deed) || i > 0;
        }
      }
    }
    Pattern function = Pattern.compile("\\bnrd_[a-z_]+(?=\\()");
    String header = Files.readString(Path.of("../../native/include/nereid/nereid.h"));
    for (String point : MEMORY) {
      for (String name :
          function.matcher(header).results().map(MatchResult::group).distinct().toList()) {
        for (String deed : deeds.keySet()) {
          once(point, point, name, deed);
        }
      }
    }
  }

  private static String enable(String point, String error, double chance) {
    return String.format(
        Locale.ROOT, "enable_random name=%s,probability=%f,failinfo=%s", point, chance, error);
  }

  private void tellFiu(String command) throws IOException {
    FaultyServer.ask(shared, server, command, "");
  }

  /** True if the call failed in the deed. */
  private boolean once(String point, String command, String function, String deed)
      throws IOException {
    Row row =
        rows.computeIfAbsent(
            function.isEmpty() ? point : point + " in " + function, unused -> new Row());
    String round = command + " " + function + " in " + deed;
    int before = row.hits;
    play(
        row,
        round,
        () -> {
          if (FaultyServer.ask(shared, server, command, function) != 0) {
            throw new IOException("libfiu refuses it");
          }
          String error = attempt(deed);
          boolean hit = FaultyServer.ask(shared, server, "hit " + point, "") == 0;
          tellFiu("disable name=" + point);
          // Nothing tells of a call below a function but its error.
          if (!hit || (!function.isEmpty() && error.isEmpty())) {
            return false;
          }
          row.hits++;
          row.count(error);
          log.println(round + ": " + (error.isEmpty() ? "answered" : error));
          return true;
        });
    return row.hits > before;
  }

  /** Plays a round; afterwards all is answered by this server, or by another from now on. */
  private void play(Row row, String name, Round round) throws IOException {
    int said = printed.size();
    boolean works = false;
    try {
      if (round.run()) {
        recover(name);
      }
      works = true;
    } catch (IOException | AssertionError e) {
      found(row, name + ": " + e.getMessage());
    }
    List<String> lines;
    synchronized (printed) {
      lines = List.copyOf(printed.subList(said, printed.size()));
    }
    boolean unwritten = lines.stream().anyMatch(line -> line.contains("logging.ErrorManager"));
    lines.stream()
        .filter(line -> !unwritten && UNCAUGHT.matcher(line).find())
        .findFirst()
        .ifPresent(line -> found(row, name + " printed: " + line));
    if (!server.isAlive()) {
      found(row, name + ": the process ended: " + lines);
    }
    if (!works || !server.isAlive()) {
      server.destroyForcibly().onExit().join();
      start();
    }
  }

  private void found(Row row, String what) {
    synchronized (row) {
      row.found++;
    }
    synchronized (findings) {
      findings.add(what);
    }
    log.println("FOUND " + what);
  }

  /** Everything is answered again. */
  private void recover(String round) {
    long endMs = System.currentTimeMillis() + RECOVERY_MS;
    for (String deed : deeds.keySet()) {
      for (String error = attempt(deed); !error.isEmpty(); error = attempt(deed)) {
        log.println(round + ": afterwards " + deed + ": " + error);
        if (System.currentTimeMillis() > endMs || !server.isAlive()) {
          throw new AssertionError("afterwards " + deed + ": " + error);
        }
      }
    }
  }

  /** Slices of time in which many calls fail, each from a seed of its own. */
  private void atRandom(int seconds) throws IOException {
    Row row = rows.computeIfAbsent("at random", unused -> new Row());
    // Linux closes what it says it could not; libfiu does not, and a client would wait for the end.
    Map<String, String[]> points = new LinkedHashMap<>(POINTS);
    points.remove("posix/io/oc/close");
    Random random = new Random(seed);
    for (int slice = 0; slice < seconds * 1000 / SLICE_MS; slice++) {
      String name = "slice " + slice + " of seed " + seed;
      play(
          row,
          name,
          () -> {
            for (Map.Entry<String, String[]> point : points.entrySet()) {
              String error = point.getValue()[random.nextInt(point.getValue().length)];
              tellFiu(enable(point.getKey(), error, Math.pow(10, -1 - 3 * random.nextDouble())));
            }
            together(row, name, random.nextLong());
            for (String point : points.keySet()) {
              tellFiu("disable name=" + point);
            }
            return true;
          });
    }
  }

  private void together(Row row, String round, long clientSeed) {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SLICE_MS);
    List<CompletableFuture<Void>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Random random = new Random(clientSeed + i);
      List<String> mine = i == 0 ? List.copyOf(deeds.keySet()) : harmless;
      Runnable client =
          () -> {
            while (System.nanoTime() < endNs) {
              String deed = mine.get(random.nextInt(mine.size()));
              try {
                row.count(attempt(deed));
              } catch (AssertionError e) {
                found(row, round + ", " + deed + ": " + e.getMessage());
              }
            }
          };
      clients.add(CompletableFuture.runAsync(client, threads));
    }
    clients.forEach(CompletableFuture::join);
  }

  private boolean tell() {
    System.out.print(LEFT_OUT);
    String head = "%-48s %6s %9s %7s %6s%n";
    System.out.printf(head, "point", "hits", "answered", "errors", "found");
    rows.forEach((name, row) -> {
      if (row.hits + row.answered + row.found > 0 || !name.contains(" in ")) {
        System.out.printf(head, name, row.hits, row.answered, row.failed, row.found);
      }
    });
    findings.forEach(finding -> System.out.println("FOUND: " + finding));
    System.out.println(findings.isEmpty() ? "Passed" : "Failed: build/faults/log");
    return findings.isEmpty();
  }
}
