package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.model.RepositoryOptions;
import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The cases of h2spec, a program that looks how servers follow the text of HTTP/2. */
@Tag("slow")
class Http2SpecTest {

  private static final String PROGRAM = "/h2spec/2.2.0/h2spec_linux_amd64.tar.gz";

  /**
   * The cases that grpc-netty does not pass. In each it answers, or leaves open, a call that breaks
   * the rules.
   */
  private static final Set<String> DEVIATIONS =
      Set.of(
          "closed: Sends a HEADERS frame",
          "Sends stream identifier that is numerically smaller than previous",
          "Sends a HEADERS frame with empty \":path\" pseudo-header field",
          "Sends a HEADERS frame that omits \":method\" pseudo-header field",
          "Sends a HEADERS frame that omits \":scheme\" pseudo-header field",
          "Sends a HEADERS frame that omits \":path\" pseudo-header field");

  /** Passes if the call has ended when its second HEADERS frame arrives, and fails if not. */
  private static final String RACE = "half closed (remote): Sends a HEADERS frame";

  private static final int CASES = 145;

  /** Seconds that a case may take. Each deviation takes all of them. */
  private static final int QUICKLY = 1;

  private static final int PATIENTLY = 10;

  @Test
  void thePortKeepsTheRules(@TempDir Path directory) throws Exception {
    assumeTrue(System.getProperty("os.arch").equals("amd64"), "h2spec is there for x86-64");
    unpack(directory);
    try (GrpcFixture server = new GrpcFixture(RepositoryOptions.builder().explicit().build())) {
      Set<String> failed = failed(directory, server.server().port(), QUICKLY);
      if (!failed.equals(DEVIATIONS)) { // on a busy machine others may take long, too
        failed = failed(directory, server.server().port(), PATIENTLY);
      }
      assertEquals(new TreeSet<>(DEVIATIONS), failed);
    }
  }

  private static Set<String> failed(Path directory, int port, int seconds) throws Exception {
    Path report = directory.resolve("report.xml");
    run(
        directory,
        directory.resolve("h2spec").toString(),
        "--host=127.0.0.1",
        "--port=" + port,
        "--timeout=" + seconds,
        "--junit-report=" + report);
    NodeList cases =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(report.toFile())
            .getElementsByTagName("testcase");
    assertEquals(CASES, cases.getLength());
    Set<String> failed = new TreeSet<>();
    for (int i = 0; i < cases.getLength(); i++) {
      Element one = (Element) cases.item(i);
      if (one.getElementsByTagName("*").getLength() > 0) {
        failed.add(one.getAttribute("classname"));
      }
    }
    failed.remove(RACE);
    return failed;
  }

  private static void unpack(Path directory) throws Exception {
    Path archive = directory.resolve("h2spec.tar.gz");
    try (InputStream in = Http2SpecTest.class.getResourceAsStream(PROGRAM)) {
      Files.copy(in, archive);
    }
    assertEquals(0, run(directory, "tar", "xzf", archive.toString()));
    assertTrue(Files.isExecutable(directory.resolve("h2spec")));
  }

  private static int run(Path directory, String... command) throws Exception {
    return new ProcessBuilder(command)
        .directory(directory.toFile())
        .redirectErrorStream(true)
        .redirectOutput(new File("/dev/null"))
        .start()
        .waitFor();
  }
}
