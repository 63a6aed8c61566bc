package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./dev house} in a small project, with the rules of the real one. */
class HouseTest {

  private static final String FOLDER = ".dev";
  private static final Path HOUSE = Path.of("..", "..", FOLDER, "house");

  private static final String ONE_WALK =
      """
      **Main line: HTTP**

      1. `Wire`: reads the request.
      2. `Frame`: is what it reads,
         part by part.

      `Elsewhere` is prose.
      """;

  @TempDir private static Path classes;
  @TempDir private Path root;

  /** Compiles it once, which takes longer than all that it does here. */
  @BeforeAll
  static void compile() {
    StringWriter said = new StringWriter();
    PrintWriter to = new PrintWriter(said);
    String[] arguments = {
      "-d",
      classes.toString(),
      "--source-path",
      HOUSE.getParent().toString(),
      HOUSE.resolve("House.java").toString()
    };
    assertEquals(
        0, ToolProvider.findFirst("javac").orElseThrow().run(to, to, arguments), said::toString);
  }

  @BeforeEach
  void makeProject() throws IOException {
    write(FOLDER + "/house/rules.txt", Files.readString(HOUSE.resolve("rules.txt")));
    write(
        FOLDER + "/house.txt",
        """
        # Comments are passed over.
        files over 400 lines = 0
        comments that begin without a subject = 0
        entries at the top of the tree = 3
        class names used twice = 0
        package cycles = 0
        largest file circle = 3
        arrows back up in the runtime = 0
        files with native offsets outside io.nereid.internal.ffi = 0
        uses that a rule forbids = 0
        files on the main line: HTTP = 2
        steps of ARCHITECTURE.md that lead nowhere = 0
        """);
    write(".gitignore", "build/\n");
    write("build/left.txt", "");
    write("ARCHITECTURE.md", ONE_WALK);
    java("server", "io.nereid.server.http.seam", "Wire", "Frame frame;");
    java("server", "io.nereid.server.http.seam", "Frame", "");
    java("bindings/runtime", "io.nereid.internal.ffi", "Memory", "");
    java("bindings/runtime", "io.nereid", "Nereid", "// io.nereid.internal.ffi.Memory in words");
  }

  private void write(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private void java(String module, String packageName, String name, String body, String... imports)
      throws IOException {
    StringBuilder text = new StringBuilder("package " + packageName + ";\n");
    for (String imported : imports) {
      text.append("import ").append(imported).append(";\n");
    }
    text.append("class ").append(name).append(" {\n").append(body).append("\n}\n");
    String folder = module + "/src/main/java/" + packageName.replace('.', '/');
    write(folder + "/" + name + ".java", text.toString());
  }

  private String measure(int status) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classes.toString(),
                "house.House",
                root.toString())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(status, process.waitFor(), printed);
    return printed;
  }

  private static void assertSays(String printed, String... parts) {
    for (String part : parts) {
      assertTrue(printed.contains(part), () -> "'" + part + "' is not in\n" + printed);
    }
  }

  @Test
  void sourcesThatKeepToTheRulesPass() throws Exception {
    assertSays(
        measure(0),
        "uses that a rule forbids                                             0, at most 0\n",
        "files on the main line: HTTP                                         2, at most 2\n",
        "largest file circle                                                  1, at most 3\n"
            + "  It got better: write 'largest file circle = 1'.\n");
  }

  @Test
  void eachViolationIsToldWithTheSentenceOfItsRule() throws Exception {
    java("server", "io.nereid.server.http", "Router", "/**\n * Of whom pieces are taken. */");
    java(
        "server", "io.nereid.server.http.seam", "Wire", "Frame f;", "io.nereid.server.http.Router");
    java("server", "io.nereid.server.log", "Lines", "", "io.nereid.internal.ffi.Memory");
    java("bindings/runtime", "io.nereid.internal.ffi", "Memory", "", "io.nereid.Nereid");
    java("bindings/runtime", "io.nereid", "Nereid", "", "io.nereid.internal.ffi.Memory");
    java(
        "tools/perf", "io.nereid.perf", "Nereid", "\n".repeat(400), "io.nereid.server.http.Router");
    write("notes.txt", "");
    write(
        "ARCHITECTURE.md",
        ONE_WALK.replace("`Frame`", "`Frame`, `Lines`, `Gone`") + "\n**Main line: gRPC**\n");
    assertSays(
        measure(1),
        "The seam stands between the socket and Helidon: it knows no endpoint",
        "  io.nereid.server.http.seam.Wire -> io.nereid.server.http.Router\n",
        "What stands on a lower floor of the runtime knows nothing of the floors above it.\n",
        "  io.nereid.internal.ffi.Memory -> io.nereid.Nereid\n",
        "The runtime's internals may change at any time: use what io.nereid offers.\n",
        "  io.nereid.server.log.Lines -> io.nereid.internal.ffi.Memory\n",
        "What is measured must not share code with what measures it.\n",
        "  io.nereid.perf.Nereid -> io.nereid.server.http.Router\n",
        "Offsets and bare addresses of the C ABI are known in io.nereid.internal.ffi only: it"
            + " lends",
        "Packages stand on floors: one that uses another is not used by it.\n"
            + "    [io.nereid, io.nereid.internal.ffi]\n",
        "One name means one thing in the whole project.\n"
            + "    Nereid=[io.nereid, io.nereid.perf]\n",
        "A file has one job, which seldom takes more than 400 lines.\n"
            + "    io.nereid.perf.Nereid 405\n",
        "A sentence has a subject and a verb, and can be read alone.\n"
            + "    Router: Of whom pieces are taken. */\n",
        "A newcomer's eye wants a short list: what belongs together stands in one folder.\n",
        "    notes.txt\n",
        "A stranger follows the main line through few files; ARCHITECTURE.md lists them.\n",
        "Main line: HTTP: `Lines` and the files before it do not use each other\n",
        "Main line: HTTP: `Gone` names no file\n");
  }

  @Test
  void aLimitThatHoldsNothingIsTold() throws Exception {
    write("ARCHITECTURE.md", "");
    assertSays(
        measure(1),
        "/house.txt has a limit for 'files on the main line: HTTP', which nothing measures.");
  }
}
