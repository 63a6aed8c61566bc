package io.nereid.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Lets the calls of a server fail, by libfiu: {@code FaultsRun SECONDS SEED}. Each point of libfiu
 * fails once in each deed of a client, then all do at random for the seconds. Meanwhile a deed has
 * its right answer or a clean error, and afterwards its right answer, from the same process. With
 * an odd seed the server encrypts HTTP and gRPC.
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
  private final Map<String, Row> rows = new LinkedHashMap<>();
  private final List<String> findings = new ArrayList<>();
  private final List<String> printed = new ArrayList<>(); // guarded by itself
  private final FaultDeeds deeds;
  private Process server;
  private MemorySegment shared;

  private FaultsRun(long seed) throws IOException, GeneralSecurityException {
    this.seed = seed;
    deeds = new FaultDeeds(directory, seed % 2 != 0);
    start();
  }

  public static void main(String[] args) throws Exception {
    FaultsRun run = new FaultsRun(Long.parseLong(args[1]));
    Runtime.getRuntime().addShutdownHook(new Thread(run.deeds::close));
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
    arguments.addAll(deeds.serverArguments());
    arguments.add("--allow-client-shm=true");
    arguments.add("--record=" + directory.resolve("recorded") + ",max=64m");
    arguments.add("--trace-config=level=TIMESTAMPS");
    arguments.add("--trace-config=rate=1");
    arguments.add("--trace-config=triton,file=" + directory.resolve("trace.json"));
    String strdup = directory.resolve("strdup.so").toRealPath().toString();
    String fiu =
        """
        FIU_PRNG_SEED=%d exec fiu-run -x -f '' \
        sh -c 'LD_PRELOAD="%s $LD_PRELOAD" exec "$@"' sh "$@"\
        """
            .formatted(seed, strdup);
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
      if (line.startsWith("Serving ")) {
        deeds.noteAddress(line);
      }
    } while (!line.startsWith("Ready"));
    Thread.ofPlatform().daemon().start(() -> listen(from));
    for (int i = 0; i < 3; i++) {
      recover("the start", deeds.names()); // all classes are loaded
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

  // ---- Faults ----------------------------------------------------------------------------------

  private void singly() throws IOException {
    for (Map.Entry<String, String[]> point : POINTS.entrySet()) {
      String[] errors = point.getValue();
      for (String deed : deeds.names()) {
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
        for (String deed : deeds.names()) {
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
    List<String> again = new ArrayList<>(deeds.names());
    again.removeIf(other -> !other.equals(deed) && deeds.renewals().contains(other));
    play(
        row,
        round,
        again,
        () -> {
          if (FaultyServer.ask(shared, server, command, function) != 0) {
            throw new IOException("libfiu refuses it");
          }
          String error = deeds.attempt(deed);
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

  /** Plays a round; afterwards this server answers the deeds again, or another takes its place. */
  private void play(Row row, String name, Collection<String> again, Round round)
      throws IOException {
    int said = printed.size();
    boolean works = false;
    try {
      if (round.run()) {
        recover(name, again);
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

  /** The server answers these deeds again. */
  private void recover(String round, Collection<String> again) {
    long endMs = System.currentTimeMillis() + RECOVERY_MS;
    for (String deed : again) {
      for (String error = deeds.attempt(deed); !error.isEmpty(); error = deeds.attempt(deed)) {
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
          deeds.names(),
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
      List<String> mine = i == 0 ? List.copyOf(deeds.names()) : deeds.harmless();
      Runnable client =
          () -> {
            while (System.nanoTime() < endNs) {
              String deed = mine.get(random.nextInt(mine.size()));
              try {
                row.count(deeds.attempt(deed));
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
