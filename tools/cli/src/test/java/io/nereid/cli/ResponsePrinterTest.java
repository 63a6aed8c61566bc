package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.jr.ob.JSON;

/** The output of {@code nereid infer} for a model with many responses. */
class ResponsePrinterTest {

  private final CommandLineRun cli = new CommandLineRun();

  private int repeat(String in, String delay, String wait, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of("infer", "repeat", "--input", in, "--input", delay, "--input", wait));
    arguments.addAll(List.of(more));
    return cli.run(arguments.toArray(String[]::new));
  }

  @Test
  void responsesFollowEachOther() {
    assertEquals(0, repeat("IN=7,-8", "DELAY=0,0", "WAIT=0"));
    assertEquals(
        """
        OUT INT32[1]: 7
        IDX UINT32[1]: 0
        OUT INT32[1]: -8
        IDX UINT32[1]: 1
        """,
        cli.out());
  }

  @Test
  void responsesBeforeAFailureArePrinted() {
    assertEquals(1, repeat("IN=7,8", "DELAY=0,60000", "WAIT=0", "--timeout-ms", "300"));
    assertEquals("OUT INT32[1]: 7\nIDX UINT32[1]: 0\n", cli.out());
    assertTrue(cli.err().startsWith("nereid: the deadline passed"), cli.err());
  }

  @Test
  void jsonIsAnArray() throws IOException {
    assertEquals(0, repeat("IN=7,-8", "DELAY=0,0", "WAIT=0", "--json"));
    List<Object> replies = JSON.std.listFrom(cli.out());
    assertEquals(2, replies.size());
    Map<?, ?> reply = (Map<?, ?>) replies.get(1);
    assertEquals("repeat", reply.get("model_name"));
    Map<?, ?> first = (Map<?, ?>) ((List<?>) reply.get("outputs")).getFirst();
    assertEquals(List.of(-8), first.get("data"));
  }
}
