package io.nereid.perf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The processes that listen at the server's port, if it runs on this machine and they can be
 * inspected.
 *
 * @param here whether the server runs on this machine
 * @param pids their ids; empty: unknown
 * @param why the reason if they are unknown, for people
 */
record ServerProcess(boolean here, List<Long> pids, String why) {

  private static final String LISTENING = "0A";

  static ServerProcess of(long pid) {
    if (ProcessHandle.of(pid).flatMap(process -> process.info().totalCpuDuration()).isEmpty()) {
      throw new PerfException(
          "expected --server-pid of a process of this machine that may be looked at, got " + pid);
    }
    return new ServerProcess(true, List.of(pid), "");
  }

  /** Searches {@code /proc} for the processes with the listening socket. */
  static ServerProcess at(Target target) {
    try {
      if (!isLocal(target.host())) {
        return new ServerProcess(false, List.of(), "the server runs on another machine");
      }
      Set<String> sockets = new HashSet<>();
      for (String table : List.of("tcp", "tcp6")) {
        Path file = Path.of("/proc/net", table);
        if (Files.exists(file)) {
          listening(Files.readAllLines(file), target.port(), sockets);
        }
      }
      List<Long> pids = owners(sockets);
      return new ServerProcess(
          true, pids, pids.isEmpty() ? "its process cannot be seen (--server-pid names it)" : "");
    } catch (IOException e) {
      return new ServerProcess(false, List.of(), "its process cannot be found: " + e.getMessage());
    }
  }

  private static boolean isLocal(String host) throws IOException {
    InetAddress address = InetAddress.getByName(host);
    return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
  }

  /**
   * Parses lines of {@code /proc/net/tcp}: number, local address, remote address, state, ... inode.
   */
  private static void listening(List<String> lines, int port, Set<String> sockets) {
    String suffix = String.format(":%04X", port);
    for (String line : lines) {
      String[] columns = line.strip().split("\\s+");
      if (columns.length > 9 && columns[1].endsWith(suffix) && columns[3].equals(LISTENING)) {
        sockets.add("socket:[" + columns[9] + "]");
      }
    }
  }

  private static List<Long> owners(Set<String> sockets) throws IOException {
    List<Long> pids = new ArrayList<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
      for (Path process : processes) {
        if (holds(process.resolve("fd"), sockets)) {
          pids.add(Long.valueOf(process.getFileName().toString()));
        }
      }
    }
    return pids;
  }

  private static boolean holds(Path descriptors, Set<String> sockets) {
    try (DirectoryStream<Path> links = Files.newDirectoryStream(descriptors)) {
      for (Path link : links) {
        if (sockets.contains(Files.readSymbolicLink(link).toString())) {
          return true;
        }
      }
      return false;
    } catch (IOException | DirectoryIteratorException e) {
      return false; // the process has ended, or belongs to another user
    }
  }

  boolean isKnown() {
    return !pids.isEmpty();
  }

  /**
   * True if this very process is the server, so that the two processor times cannot be separated.
   */
  boolean isThisProcess() {
    return pids.contains(ProcessHandle.current().pid());
  }

  /** The processes' processor time; empty: unknown. */
  Optional<Long> cpuNs() {
    if (!isKnown()) {
      return Optional.empty();
    }
    long sum = 0;
    for (long pid : pids) {
      Optional<Duration> cpu =
          ProcessHandle.of(pid).flatMap(process -> process.info().totalCpuDuration());
      if (cpu.isEmpty()) {
        return Optional.empty();
      }
      sum += cpu.get().toNanos();
    }
    return Optional.of(sum);
  }
}
