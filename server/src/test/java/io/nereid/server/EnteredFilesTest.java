package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests and loads enter at most as many files as the limits of the house allow. */
@Tag("slow")
class EnteredFilesTest {

  private static final String FIGURE = "files entered: ";

  @Test
  void requestsEnterFewFiles() throws Exception {
    Map<String, Set<String>> entered = EnteredFiles.measure();
    List<String> above = new ArrayList<>();
    int limits = 0;
    for (String line : Files.readAllLines(Path.of("..", ".dev", "house.txt"))) {
      if (line.startsWith(FIGURE)) {
        String[] sides = line.substring(FIGURE.length()).split(" = ");
        limits++;
        Set<String> files = entered.get(sides[0]);
        if (files.isEmpty() || files.size() > Integer.parseInt(sides[1])) {
          above.add(line + " at most, but " + files.size() + " are entered: " + files);
        }
      }
    }
    assertEquals(List.of(), above);
    assertEquals(entered.size(), limits, "a limit for each way");
  }
}
