package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.nereid.server.WalkFixture;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The main line of HTTP in ARCHITECTURE.md has the files that an infer request passes. */
class WalkTest {

  private static final byte[] INFER =
      RawClient.request(
          "/v2/models/walk/infer",
          "",
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}"
              .getBytes(StandardCharsets.US_ASCII));

  @Test
  void theFilesOnTheStackAreTold() throws Exception {
    WalkFixture walk = new WalkFixture();
    try (TestServer server = new TestServer()) {
      server.load(walk.model());
      try (RawClient client = server.connect()) {
        for (int i = 0; i < 20; i++) {
          client.send(INFER);
          assertEquals(200, client.receive().status());
        }
      }
    }
    Set<String> passed = walk.files("io.nereid.server.http.seam.ClientConnection");
    assertFalse(passed.isEmpty(), "no request was executed on its connection's thread");
    Set<String> untold = new TreeSet<>(passed);
    untold.removeAll(WalkFixture.told("HTTP", "embedded"));
    assertEquals(Set.of(), untold, "not named in ARCHITECTURE.md, of " + passed);
  }
}
