package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.nereid.server.WalkFixture;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The main line of gRPC in ARCHITECTURE.md has the files that an inference passes. A model that
 * runs on the event loop shows which files really are on the way to it.
 */
class GrpcWalkTest {

  /** A machine that is busy may take long until it executes quickly often enough in a row. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  @Test
  void theFilesOnTheStackAreTold() throws IOException {
    WalkFixture walk = new WalkFixture();
    Set<String> passed = Set.of();
    try (InferFixture server = new InferFixture().load(walk.model())) {
      long startNs = System.nanoTime();
      while (passed.isEmpty() && System.nanoTime() - startNs < PATIENCE.toNanos()) {
        server.infer(floats("walk", 1, 2));
        passed = walk.files("io.nereid.server.grpc.InferCall");
      }
    }
    assertFalse(passed.isEmpty(), "no request was executed on an event loop");
    Set<String> untold = new TreeSet<>(passed);
    untold.removeAll(WalkFixture.told("gRPC", "embedded"));
    assertEquals(Set.of(), untold, "on no main line of ARCHITECTURE.md, of " + passed);
  }
}
