package io.nereid.server.http;

import io.nereid.cli.ServeProcess;
import io.nereid.server.grpc.GrpcFrames;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Loads a server process fully for a while, and attacks it meanwhile: {@code HttpSoak SECONDS
 * CONNECTIONS DIRECTORY}, with the class path of the tests. In the end nothing may be left: no
 * buffer, no connection, no memory that grew. A long time has parts, each with a server of its own
 * that ends with SIGTERM; the directory keeps the figures of all of them, and of all runs.
 */
final class HttpSoak extends Soak implements AutoCloseable {

  /** Sets a time so short that a client which stands still exceeds it, and is told so. */
  static final String GRPC_TIME = "--grpc-request-timeout-secs";

  /** Until then the JVM compiles, and its heap takes its size. */
  private static final double WARM_UP = 0.25;

  /** What the RSS may grow by between the means of the second and the last quarter of a run. */
  private static final double MOST_GROWTH = 0.03;

  /** By how much the least heap of the last quarter may exceed that of the second. */
  private static final long MOST_HEAP_GROWTH_KIB = 64 << 10;

  /** A shorter run says nothing about memory. */
  private static final int LEAST_SECONDS_FOR_GROWTH = 120;

  private static final int MOST_SECONDS_OF_PART = 1800;
  private static final int SECONDS_BETWEEN_HEAPS = 10;
  private static final int SECONDS_BETWEEN_FIGURES = 60;

  /** Figures of soaks on other machines, which those of this one are added to. */
  private static final Path KEPT = Path.of("src/test/soak");

  private final Process process;
  private final int port;
  private final int metricsPort;
  final LongAdder brokenOff = new LongAdder();
  private final Map<SoakAttacker, LongAdder> attacks = new LinkedHashMap<>();
  private final Set<String> socketsBefore;
  private final SoakModels models;
  private final List<Long> rssKib = new ArrayList<>(); // one each second
  private final List<Long> heapKib = new ArrayList<>(); // what is used, each ten seconds at most
  private long deadlineNs;

  private HttpSoak(Process process, int port, int grpcPort, int metricsPort) throws IOException {
    this.process = process;
    this.port = port;
    this.metricsPort = metricsPort;
    socketsBefore = sockets();
    models = new SoakModels(port, grpcPort);
    for (SoakAttacker attacker : attackers(port, grpcPort)) {
      attacks.put(attacker, new LongAdder());
    }
  }

  /** Ends the server by SIGTERM, and returns its status. */
  int terminate() throws InterruptedException {
    process.toHandle().destroy(); // the process's own method also closes its streams
    return process.waitFor();
  }

  private static List<SoakAttacker> attackers(int port, int grpcPort) {
    return List.of(
        new FloodAttacker("gRPC", grpcPort, GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS),
        new HalfMessageAttacker(grpcPort),
        new MalformedMessageAttacker(grpcPort),
        new HalfBodyAttacker(port),
        new ConnectionFloodAttacker("HTTP", port),
        new ConnectionFloodAttacker("gRPC", grpcPort));
  }

  public static void main(String[] args) throws Exception {
    if (args.length != 3) {
      throw new IllegalArgumentException("expected SECONDS CONNECTIONS DIRECTORY");
    }
    SoakFigures figures = SoakFigures.of(Path.of(args[2]), KEPT);
    int seconds = Integer.parseInt(args[0]);
    int parts = Math.ceilDiv(seconds, MOST_SECONDS_OF_PART);
    boolean passed = true;
    for (int part = 1; part <= parts; part++) {
      figures.beginPart();
      Verdict verdict = part(seconds / parts, Integer.parseInt(args[1]), figures);
      System.out.println("Part " + part + " of " + parts + ", " + verdict.figures());
      verdict.faults().forEach(fault -> System.out.println("FAULT: " + fault));
      passed &= verdict.faults().isEmpty();
    }
    System.out.println(figures.seconds() + " s of all runs are drawn in " + figures.draw());
    System.out.println(passed ? "Passed" : "Failed");
    System.exit(passed ? 0 : 1);
  }

  /** Runs a server from its start to its end by SIGTERM. */
  static Verdict part(int seconds, int connections, SoakFigures figures) throws Exception {
    try (HttpSoak soak = start(figures.directory())) {
      Verdict verdict = soak.run(seconds, connections, figures);
      int status = soak.terminate();
      if (status != 0) {
        verdict.faults().add("SIGTERM ended the server with status " + status);
      }
      return verdict;
    }
  }

  /** Starts a server with the bundled models, which may be loaded again. */
  static HttpSoak start(Path directory) throws IOException {
    List<String> arguments =
        ServeProcess.arguments(
            "--model-control-mode",
            "explicit",
            "--load-model",
            "*",
            GRPC_TIME,
            "1",
            "--grpc-max-total-input-size",
            "1000000");
    arguments.addAll(SoakModels.arguments(directory));
    // All compilers, since a soak is long. A heap that attackers could use up, which has its memory
    // from the start: a collector that is short of processor time takes more of what it may, which
    // would look like growth.
    Process process =
        ServeProcess.startFromShell(
            "exec \"$@\"",
            List.of("-XX:TieredStopAtLevel=4", "-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"),
            "io.nereid.cli.Main",
            arguments);
    BufferedReader printed = process.inputReader();
    int port = 0;
    int grpcPort = 0;
    int metricsPort = 0;
    for (String line = printed.readLine(); line != null; line = printed.readLine()) {
      if (line.startsWith("Serving HTTP at ")) {
        port = port(line);
      } else if (line.startsWith("Serving gRPC at ")) {
        grpcPort = port(line);
      } else if (line.startsWith("Serving metrics at ")) {
        metricsPort = port(line);
      } else if (line.startsWith("Ready")) {
        Thread.ofPlatform().daemon().start(() -> passOn(printed));
        return new HttpSoak(process, port, grpcPort, metricsPort);
      }
    }
    throw new IOException("the server did not start");
  }

  /** What the server says while it is there. */
  private static void passOn(BufferedReader printed) {
    try {
      printed.lines().forEach(System.out::println);
    } catch (UncheckedIOException e) {
      // It was stopped.
    }
  }

  private static int port(String line) {
    return Integer.parseInt(line.replaceAll(".*:([0-9]+).*", "$1"));
  }

  /** Runs it; once. */
  Verdict run(int seconds, int connections, SoakFigures figures) throws Exception {
    long startNs = System.nanoTime();
    deadlineNs = startNs + TimeUnit.SECONDS.toNanos(seconds);
    for (int i = 0; i < connections; i++) {
      start("client " + i, new HttpSoakClient(port, i, this), this::goesOn);
    }
    start("reload", this::reload, this::goesOn);
    models.start(this::goesOn);
    attacks.forEach((attacker, count) -> {
      Random random = new Random(attacker.name().hashCode());
      start(attacker.name(), () -> attack(attacker, random, count), this::goesOn);
    });
    for (int second = 1; second <= seconds; second++) {
      TimeUnit.NANOSECONDS.sleep(startNs + TimeUnit.SECONDS.toNanos(second) - System.nanoTime());
      rssKib.add(status("VmRSS:"));
      if (second % SECONDS_BETWEEN_HEAPS == 0) {
        look(second, figures);
      }
      if (second % 60 == 0) {
        System.out.printf(
            Locale.ROOT,
            "%2d min: %,d requests, %d MiB RSS%n",
            second / 60,
            answered.sum(),
            rssKib.getLast() >> 10);
      }
    }
    join();
    models.join();
    return verdict(seconds);
  }

  /**
   * Leaves the look out where the metrics do not come in time, which a busy machine is enough for.
   */
  private void look(int second, SoakFigures figures) throws IOException {
    try {
      heapKib.add(gauge("jvm_memory_used_bytes{area=\"heap\"}") >> 10);
      if (second % SECONDS_BETWEEN_FIGURES == 0) {
        figures.add(
            second,
            rssKib.getLast(),
            heapKib.getLast(),
            gauge("process_open_fds"),
            status("Threads:"),
            gauge("nv_pinned_memory_pool_used_bytes"),
            answered());
      }
    } catch (SocketTimeoutException e) {
      System.out.println("no metrics within " + TestServer.PATIENCE.toSeconds() + " s");
    }
  }

  /** Loads the model that most requests are for again and again, while they are served. */
  private void reload() throws IOException, InterruptedException {
    try (RawClient client = new RawClient(port)) {
      client.post("/v2/repository/models/identity_fp32/load", "").expect(200);
      reloads.increment();
      TimeUnit.SECONDS.sleep(1);
    }
  }

  private static void attack(SoakAttacker attacker, Random random, LongAdder count)
      throws IOException, InterruptedException {
    attacker.attack(random);
    count.increment();
    Thread.sleep(attacker.pauseMs());
  }

  /** Tells clients whether the time is not over. */
  boolean goesOn() {
    return System.nanoTime() - deadlineNs < 0;
  }

  /** How often each kind of harm was done. */
  List<Long> attacks() {
    return attacks.values().stream().map(LongAdder::sum).toList();
  }

  /** Requests that got their answer. */
  long answered() {
    return answered.sum() + models.answered();
  }

  /** A number that the kernel tells of the server. */
  private long status(String name) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("the server has no " + name + " it is gone");
  }

  private Verdict verdict(int seconds) throws IOException {
    List<String> faults = new ArrayList<>(faults());
    faults.addAll(models.faults());
    long buffers = settled("nereid_pool_buffers");
    long bytes = settled("nv_pinned_memory_pool_used_bytes");
    long open = settled("nereid_connections{protocol=\"http\"}");
    long openGrpc = settled("nereid_connections{protocol=\"grpc\"}");
    List<String> sockets = settledSockets();
    expectNone(buffers, "live buffers", faults);
    expectNone(bytes, "bytes of live buffers", faults);
    expectNone(open, "open connections of HTTP", faults);
    expectNone(openGrpc, "open connections of gRPC", faults);
    expectNone(sockets.size(), "sockets", faults);
    faults.addAll(sockets);
    int quarter = (int) (rssKib.size() * WARM_UP);
    double early = mean(rssKib.subList(quarter, 2 * quarter));
    double late = mean(rssKib.subList(rssKib.size() - quarter, rssKib.size()));
    double growth = late / early - 1;
    if (seconds >= LEAST_SECONDS_FOR_GROWTH && growth > MOST_GROWTH) {
      faults.add(String.format(Locale.ROOT, "RSS grew by %.1f %%", growth * 100));
    }
    long earlyHeap = heapFloor(1);
    long lateHeap = heapFloor(3);
    if (seconds >= LEAST_SECONDS_FOR_GROWTH && lateHeap - earlyHeap > MOST_HEAP_GROWTH_KIB) {
      faults.add("the heap that is used never fell to " + (earlyHeap >> 10) + " MiB again");
    }
    String figures =
        String.format(
            Locale.ROOT,
            "%d s: %,d requests answered (%.0f/s), %,d broken off, %d reloads, RSS %.0f MiB in the"
                + " second quarter and %.0f MiB in the last (%+.1f %%), least heap %d and %d MiB,"
                + " %d live buffers, %d connections, %d sockets; %s",
            seconds,
            answered.sum(),
            answered.sum() / (double) seconds,
            brokenOff.sum(),
            reloads.sum(),
            early / 1024,
            late / 1024,
            growth * 100,
            earlyHeap >> 10,
            lateHeap >> 10,
            buffers,
            open + openGrpc,
            sockets.size(),
            attacksText());
    return new Verdict(figures, faults);
  }

  /**
   * The least heap that was used in a quarter of the time, from 0: what no collection gets back.
   */
  private long heapFloor(int quarter) {
    int length = heapKib.size() / 4;
    return heapKib.subList(quarter * length, (quarter + 1) * length).stream()
        .mapToLong(Long::longValue)
        .min()
        .orElse(0);
  }

  private String attacksText() {
    return attacks.entrySet().stream()
        .map(entry ->
            String.format(Locale.ROOT, "%,d %s", entry.getValue().sum(), entry.getKey().name()))
        .collect(Collectors.joining(", "));
  }

  private static void expectNone(long count, String what, List<String> faults) {
    if (count != 0) {
      faults.add(count + " " + what + " are left");
    }
  }

  private static double mean(List<Long> values) {
    return values.stream().mapToLong(Long::longValue).average().orElseThrow();
  }

  /** A gauge when it has come to zero, or its value when it does not in time. */
  private long settled(String name) throws IOException {
    long deadlineNs = System.nanoTime() + TestServer.PATIENCE.toNanos();
    while (true) {
      long value = gauge(name);
      if (value == 0 || System.nanoTime() - deadlineNs > 0) {
        return value;
      }
    }
  }

  /**
   * Sockets of the server that were not there at first, when they have had their time to go, each
   * as the kernel's table tells it.
   */
  private List<String> settledSockets() throws IOException {
    long deadlineNs = System.nanoTime() + TestServer.PATIENCE.toNanos();
    while (true) {
      Set<String> more = sockets();
      more.removeAll(socketsBefore);
      if (more.isEmpty() || System.nanoTime() - deadlineNs > 0) {
        return more.stream()
            .map(this::socketTold)
            .filter(line -> !line.contains("/.java_pid")) // of a jcmd that looked at the server
            .toList();
      }
    }
  }

  /** The inodes of the server's sockets. */
  private Set<String> sockets() throws IOException {
    Set<String> inodes = new HashSet<>();
    try (DirectoryStream<Path> all =
        Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/fd"))) {
      for (Path descriptor : all) {
        try {
          String target = Files.readSymbolicLink(descriptor).toString();
          if (target.startsWith("socket:")) {
            inodes.add(target.replaceAll("[^0-9]", ""));
          }
        } catch (NoSuchFileException e) {
          // It was closed meanwhile.
        }
      }
    }
    return inodes;
  }

  /** The line of the kernel's table of sockets that has this inode. */
  private String socketTold(String inode) {
    for (String table : List.of("tcp", "tcp6", "udp", "udp6", "unix")) {
      try (Stream<String> lines =
          Files.lines(Path.of("/proc/" + process.pid() + "/net/" + table))) {
        Optional<String> found =
            lines.filter(line -> List.of(line.trim().split("\\s+")).contains(inode)).findFirst();
        if (found.isPresent()) {
          return table + " " + found.get().trim();
        }
      } catch (IOException e) {
        return e.toString();
      }
    }
    return "a socket in no table, inode " + inode;
  }

  private long gauge(String name) throws IOException {
    try (RawClient client = new RawClient(metricsPort)) {
      String text = client.get("/metrics").expect(200).text();
      return text.lines()
          .filter(line -> line.startsWith(name + " "))
          .mapToLong(line -> (long) Double.parseDouble(line.substring(name.length() + 1)))
          .findFirst()
          .orElseThrow(() -> new IOException("no " + name + " in " + text));
    }
  }

  @Override
  public void close() {
    models.close();
    process.destroy();
    process.onExit().join();
  }
}
